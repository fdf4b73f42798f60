/**
 * What stands, and what ends by itself: a Subnet that is in effect does not make way for another one of its network, and an address that
 * nobody uses does not outlast its lease. Read from what was said of the objects before and now, by no rule.
 */
import type { Condition } from '../../src/api/meta.ts';
import { parseDuration } from '../../src/api/duration.ts';
import { kilnAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { conditionOf } from '../../src/world/conditions.ts';
import type { Finding } from './judge.ts';

const SUBNETS = 'subnets.kubeovn.io';
const LEASED = ['ips', 'vips', 'ovn-eips', 'iptables-eips'] as const;
/** A lease that ended may be told a while later: the API server was away, and what was refused rests. */
const LATE_MS = 60_000;

export class Standing {
  readonly #store: ObjectStore;
  readonly #findings: Finding[] = [];

  /** @param untouched whether nobody took away a switch: a Subnet without one is in effect no more */
  constructor(store: ObjectStore, untouched: () => boolean) {
    this.#store = store;
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
    return [...this.#findings.splice(0), ...(date === undefined ? [] : this.#outlasting(date))];
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

function inEffect(subnet: KubeObject, generation: number | undefined): boolean {
  const both = [condition(subnet, 'Accepted'), condition(subnet, 'Ready')];
  return both.every((one) => one?.status === 'True' && one.observedGeneration === generation);
}

function condition(object: KubeObject, type: string): Partial<Condition> | undefined {
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  return conditions.find((one) => one.type === type);
}
