/**
 * The state of a whole cluster on one screen: how many of each kind there are, and what is not as it should be.
 */
import { POD_CONDITION } from '../api/well-known.ts';
import { BLOCKED_RESOURCES } from '../blockers/graph.ts';
import { conditionOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCES, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { typedName } from './kind-names.ts';
import { stateOf } from './object-state.ts';

export interface Finding {
  readonly what: 'blocked' | 'conflict' | 'misbound' | 'not ready' | 'nearly full';
  readonly kind: string;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly message: string;
  readonly since: string;
  readonly next: string;
}

export interface ClusterStatus {
  readonly counts: Readonly<Record<string, number>>;
  /** Owned rows in the Northbound database; undefined where it was not looked at. */
  readonly rows: number | undefined;
  readonly findings: readonly Finding[];
}

/** A Subnet with less than this share of its addresses left is nearly full. */
const NEARLY_FULL = 0.1;

export function statusOf(world: World, northbound: boolean): ClusterStatus {
  const counts: Record<string, number> = {};
  for (const resource of Object.keys(RESOURCES) as ResourceName[]) {
    const size = world.tables[resource]?.size ?? 0;
    if (size > 0) counts[traitsOf(resource).kind] = size;
  }
  return {
    counts,
    rows: northbound ? world.rows.owned.size : undefined,
    findings: [...objectFindings(world), ...fullSubnets(world)],
  };
}

function objectFindings(world: World): Finding[] {
  const looked = [...new Set<ResourceName>([...BLOCKED_RESOURCES, 'ippools', 'pods'])];
  return looked.flatMap((resource) =>
    Array.from(world.tables[resource]?.entries() ?? []).flatMap(([key, object]): Finding[] => {
      const { ready, reason, message, since } = stateOf(resource, object);
      const elsewhere = resource === 'pods' ? conditionOf(resource, object, POD_CONDITION) : undefined;
      if (elsewhere?.status === 'True' && elsewhere.reason === 'Misbound')
        return [finding('misbound', resource, key, elsewhere.message ?? '', elsewhere.lastTransitionTime ?? since)];
      // A pod that the kubelet has not started yet is the kubelet's to tell.
      const network = resource !== 'pods' || conditionOf(resource, object, POD_CONDITION)?.status === 'False';
      const wrong = ready === 'False' && network && !(object.metadata.deletionTimestamp !== undefined && reason === 'Terminating');
      if (!wrong) return [];
      const what = reason === 'DeletionBlocked' ? 'blocked' : reason === 'HeldTwice' ? 'conflict' : 'not ready';
      return [finding(what, resource, key, message === '' ? reason : message, since)];
    }),
  );
}

function fullSubnets(world: World): Finding[] {
  return Array.from(world.subnets.entries()).flatMap(([key, { metadata, status }]): Finding[] => {
    const counts = (status ?? {}) as unknown as Readonly<Record<string, number | bigint | undefined>>;
    return (['v4', 'v6'] as const).flatMap((family): Finding[] => {
      const available = Number(counts[`${family}availableIPs`] ?? 0);
      const using = Number(counts[`${family}usingIPs`] ?? 0);
      if (using === 0 || available >= NEARLY_FULL * (available + using)) return [];
      const message = `Subnet ${key} has ${available} of ${available + using} ${family === 'v4' ? 'IPv4' : 'IPv6'} addresses left`;
      return [finding('nearly full', 'subnets', key, message, metadata.creationTimestamp)];
    });
  });
}

function finding(what: Finding['what'], resource: ResourceName, key: string, message: string, since: string): Finding {
  const [first = '', second] = key.split('/');
  const named = second === undefined ? first : `${second} -n ${first}`;
  return { what, kind: traitsOf(resource).kind, key, message, since, next: `kiln explain ${typedName(resource)} ${named}` };
}
