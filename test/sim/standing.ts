/**
 * What stands, and what ends by itself: a Subnet that is in effect does not make way for another one of its network, and an address that
 * nobody uses has its lease, no longer and no less. Read from what was said of the objects before and now, by no rule.
 */
import type { Condition } from '../../src/api/meta.ts';
import { parseDuration } from '../../src/api/duration.ts';
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
  /** Told while no clock was turned. */
  readonly #early: Finding[] = [];

  /**
   * @param untouched whether nobody took away a switch: a Subnet without one is in effect no more
   * @param byHand whether a person acts now
   */
  constructor(store: ObjectStore, untouched: () => boolean, byHand: () => boolean) {
    this.#store = store;
    store.watchAll((event) => {
      if (!LEASED_TABLES.has(event.table)) return;
      if (byHand()) {
        if (event.type === 'MODIFIED') this.#edited.add(event.object.metadata.uid);
      } else if (!this.#edited.has(event.object.metadata.uid)) this.#early.push(...endedEarly(event));
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

  /** @param date milliseconds since the epoch; undefined where somebody turned a clock */
  judge(date: number | undefined): readonly Finding[] {
    const early = this.#early.splice(0);
    this.#edited.clear();
    return [...this.#findings.splice(0), ...(date === undefined ? [] : [...early, ...this.#outlasting(date)])];
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

/** A controller asks it to go: nothing used its address, for as long as its lease says. */
function endedEarly({ type, table, object, previous }: StoreEvent): readonly Finding[] {
  const { annotations = {}, labels = {}, deletionTimestamp, name, uid } = object.metadata;
  const lease = parseDuration(annotations[kilnAnnotation.lease] ?? '');
  const isNew = type === 'MODIFIED' && deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined;
  if (!isNew || previous?.metadata.uid !== uid || lease === undefined) return [];
  const resource = table.split('.')[0] as (typeof LEASED)[number];
  // The IP object of a pod goes with the pod.
  if (resource === 'ips' && labels[labelKey.ipReserved] !== 'true') return [];
  const idle = conditionOf(resource, previous, 'Idle');
  const ends = idle?.status === 'True' ? Date.parse(idle.lastTransitionTime ?? '') + lease : Infinity;
  // By whole seconds.
  if (Date.parse(deletionTimestamp) + 1_000 >= ends) return [];
  const what = `${resource} ${name} is let go of, and its lease has not ended: idle since ${idle?.lastTransitionTime ?? 'never'}`;
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
