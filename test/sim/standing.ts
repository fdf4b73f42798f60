/**
 * What stands, and what ends by itself: a Subnet that is in effect does not make way for another one of its network, and an address that
 * nobody uses has its lease, no longer and no less. Read from what was said of the objects before and now, by no rule.
 */
import type { Condition } from '../../src/api/kubernetes/meta.ts';
import { parseDuration } from '../../src/api/values/duration.ts';
import { kilnAnnotation, labelKey } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../src/lab/apiserver/store.ts';
import { conditionOf } from '../../src/world/conditions.ts';
import type { Finding } from './judge.ts';

const SUBNETS = 'subnets.kubeovn.io';
const LEASED = ['ips', 'vips', 'ovn-eips', 'iptables-eips'] as const;
const LEASED_TABLES: ReadonlySet<string> = new Set(LEASED.map((resource) => `${resource}.kubeovn.io`));
/** A lease that ended may be told a while later: the API server was away, and what was refused rests. */
const LATE_MS = 60_000;

export class Standing {
  readonly #store: ObjectStore;
  readonly #findings: Finding[] = [];

  /** Uids of what people edited since the last rest: whoever let go of it may have seen another lease. */
  readonly #edited = new Set<string>();
  /** By uid of what is idle, the dating by which that was written. */
  readonly #idleBy = new Map<string, string>();

  /**
   * @param untouched whether nobody took away a switch: a Subnet without one is in effect no more
   * @param byHand whether a person acts now
   * @param dates by which those who lead now end leases
   * @param dating another text whenever the date that leases are written and ended by may be another one
   */
  constructor(store: ObjectStore, untouched: () => boolean, byHand: () => boolean, dates: () => readonly number[], dating: () => string) {
    this.#store = store;
    store.watchAll((event) => {
      const { table, type, object, previous } = event;
      if (!LEASED_TABLES.has(table)) return;
      const { uid } = object.metadata;
      if (object.metadata.annotations?.[kilnAnnotation.lease] !== undefined && idleIn(table, object) !== idleIn(table, previous))
        this.#idleBy.set(uid, dating());
      if (!byHand()) this.#findings.push(...begunEarlier(event, dates()));
      if (byHand()) {
        if (type === 'MODIFIED') this.#edited.add(uid);
      } else if (!this.#edited.has(uid) && (this.#idleBy.get(uid) ?? dating()) === dating())
        this.#findings.push(...endedEarly(event, dates()));
      if (type === 'DELETED') this.#idleBy.delete(uid);
    });
    store.watchAll(({ type, table, object, previous }) => {
      if (table !== SUBNETS || type !== 'MODIFIED' || previous?.metadata.uid !== object.metadata.uid || !untouched()) return;
      const { generation, name } = object.metadata;
      if (!inEffect(previous, generation)) return;
      const now = condition(object, 'Accepted');
      if (now?.status === 'False' && now.reason === 'SubnetCidrOverlap' && now.observedGeneration === generation)
        this.#findings.push({
          kind: 'I7 displaced Subnet',
          message: `Subnet ${name} was in effect and makes way for another one: ${now.message ?? ''}`,
        });
    });
  }

  /** @param date of who leads: leases end by that */
  judge(date: number): readonly Finding[] {
    this.#edited.clear();
    return [...this.#findings.splice(0), ...this.#outlasting(date)];
  }

  #outlasting(date: number): readonly Finding[] {
    return LEASED.flatMap((resource) =>
      this.#store.list(`${resource}.kubeovn.io`).flatMap((object): readonly Finding[] => {
        const { annotations = {}, name, deletionTimestamp } = object.metadata;
        const lease = parseDuration(annotations[kilnAnnotation.lease] ?? '');
        const idle = conditionOf(resource, object, 'Idle');
        if (lease === undefined || idle?.status !== 'True' || deletionTimestamp !== undefined) return [];
        const since = Date.parse(idle.lastTransitionTime ?? '');
        return since + lease + LATE_MS > date
          ? []
          : [
              {
                kind: `progress lease ${resource}`,
                message: `${resource} ${name} is idle since ${idle.lastTransitionTime ?? ''}, longer than its lease`,
              },
            ];
      }),
    );
  }
}

/** Since when it says that it is idle, as it writes it; empty where it does not. */
function idleIn(table: string, object: KubeObject | undefined): string {
  const idle = object === undefined ? undefined : conditionOf(resourceOf(table), object, 'Idle');
  return idle?.status === 'True' ? (idle.lastTransitionTime ?? '') : '';
}

function resourceOf(table: string): (typeof LEASED)[number] {
  return table.split('.')[0] as (typeof LEASED)[number];
}

/** A controller says that it is idle: since a moment that had long passed for whoever leads, so that its lease would end too soon. */
function begunEarlier({ table, object, previous }: StoreEvent, dates: readonly number[]): readonly Finding[] {
  const since = idleIn(table, object);
  if (since === '' || since === idleIn(table, previous) || object.metadata.annotations?.[kilnAnnotation.lease] === undefined) return [];
  if (dates.length === 0 || dates.some((date) => Date.parse(since) + LATE_MS >= date)) return [];
  const resource = resourceOf(table);
  const message = `I1: ${resource} ${object.metadata.name} says to be idle since ${since}, which has long passed for who leads`;
  return [{ kind: `I1 lease ${resource}`, message }];
}

/** A controller asks it to go: nothing used its address, for as long as its lease says. */
function endedEarly({ type, table, object, previous }: StoreEvent, dates: readonly number[]): readonly Finding[] {
  const { annotations = {}, labels = {}, finalizers = [], name, uid } = object.metadata;
  const lease = parseDuration(annotations[kilnAnnotation.lease] ?? '');
  // What has no finalizer is gone at once.
  const isNew = type === 'DELETED' || (type === 'MODIFIED' && object.metadata.deletionTimestamp !== undefined);
  if (!isNew || previous?.metadata.uid !== uid || previous.metadata.deletionTimestamp !== undefined || lease === undefined) return [];
  const resource = resourceOf(table);
  // The IP object of a pod goes with the pod. One that only asks for an address has nothing of Kiln's but what it is told.
  const asks = annotations[kilnAnnotation.podUid] === undefined && finalizers.length === 0;
  if (resource === 'ips' && labels[labelKey.ipReserved] !== 'true' && !asks) return [];
  const since = idleIn(table, previous);
  const ends = since === '' ? Infinity : Date.parse(since) + lease;
  // By whole seconds.
  if (dates.length === 0 || dates.some((date) => date + 1_000 >= ends)) return [];
  const what = `${resource} ${name} is let go of, and its lease has not ended: idle since ${since === '' ? 'never' : since}`;
  return [{ kind: `I1 lease ${resource}`, message: `I1: ${what}` }];
}

function inEffect(subnet: KubeObject, generation: number | undefined): boolean {
  const both = [condition(subnet, 'Accepted'), condition(subnet, 'Ready')];
  return both.every((one) => one?.status === 'True' && one.observedGeneration === generation);
}

function condition(object: KubeObject, type: string): Partial<Condition> | undefined {
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  return conditions.find((one) => one.type === type);
}
