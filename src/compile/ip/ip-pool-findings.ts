/**
 * Findings in an IPPool, alone and against the others of its Subnet. Of two pools that overlap the older is valid; within one second the
 * first by name. An invalid pool blocks no other.
 */
import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { Finding } from '../../api/validation/finding.ts';
import type { IPPoolSpec } from '../../api/kinds/ip-pool.ts';
import type { PoolSubnet } from '../../api/validation/ip-pool-validation.ts';
import { ipPoolFindings, ipPoolOverlaps } from '../../api/validation/ip-pool-validation.ts';
import type { Labels } from '../../api/kubernetes/meta.ts';
import { PoolRanges } from '../../api/validation/pool-ranges.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetSpec } from '../subnet/validity/spec-in-effect.ts';
import { subnetRows } from '../subnet/validity/subnet-state.ts';
import { cidrsOf } from '../subnet/validity/subnet-networks.ts';
import { subnetNetworks, subnetView } from '../subnet/validity/subnet-view.ts';
import { ipPoolAddresses } from './ip-pool-subnet.ts';

export interface PoolView {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  readonly spec: IPPoolSpec;
  readonly annotations: Labels | undefined;
}

export const poolView: Query<PoolView | undefined> = defineQuery('ip-pool-view', (world, name) => {
  const pool = world.ipPools.get(name);
  if (pool === undefined) return undefined;
  return {
    name,
    uid: pool.metadata.uid,
    created: pool.metadata.creationTimestamp,
    terminating: isTerminating(pool),
    spec: pool.spec,
    annotations: pool.metadata.annotations,
  };
});

const NONE: readonly Finding[] = [];

export function poolFindings(world: World, { name, spec }: PoolView): readonly Finding[] {
  const [own, overlaps] = [world.ask(ownFindings, name), world.ask(poolOverlaps, spec.subnet).get(name) ?? NONE];
  return own.length === 0 ? overlaps : own;
}

/** The valid pools of a Subnet, oldest first. */
export function validPools(world: World, subnet: string): readonly string[] {
  const overlaps = world.ask(poolOverlaps, subnet);
  return world.ask(poolsByAge, subnet).filter((name) => !overlaps.has(name) && world.ask(ownFindings, name).length === 0);
}

/** Names only: usage changes with every pod, age never. */
export const poolsByAge: Query<readonly string[]> = defineQuery('ip-pools-by-age', (world, subnet) =>
  [...world.ipPools.bucket('subnet', subnet)]
    .flatMap((name) => world.ask(poolView, name) ?? [])
    .toSorted((a, b) => (`${a.created} ${a.name}` < `${b.created} ${b.name}` ? -1 : 1))
    .map(({ name }) => name),
);

const ownFindings: Query<readonly Finding[]> = defineQuery('ip-pool-own-findings', (world, name) => {
  const pool = world.ask(poolView, name);
  if (pool === undefined) return NONE;
  const { spec } = pool;
  return ipPoolFindings({ name, spec }, poolSubnet(world, spec.subnet));
});

/** By pool: its overlap with older ones. One pass for all pools, so that the cost is not quadratic. */
const poolOverlaps: Query<ReadonlyMap<string, readonly Finding[]>> = defineQuery('ip-pool-overlaps', (world, subnet) => {
  const taken = new PoolRanges();
  const found = new Map<string, readonly Finding[]>();
  for (const name of world.ask(poolsByAge, subnet)) {
    const spec = world.ask(poolView, name)?.spec;
    if (spec === undefined || world.ask(ownFindings, name).length > 0) continue;
    const findings = ipPoolOverlaps({ name, spec }, taken);
    if (findings.length > 0) found.set(name, findings);
    else taken.add(name, world.ask(ipPoolAddresses, name));
  }
  return found;
});

/**
 * The CIDRs against which pools are validated: of a frozen Subnet those in effect, else those of the spec. While a new CIDR waits for
 * addresses in use, nothing outside of it is allocated: the spec counts, and the pool reports what is in effect.
 */
export function poolSubnet(world: World, name: string): PoolSubnet | undefined {
  const spec = world.ask(subnetSpec, name);
  if (spec === undefined) return undefined;
  const cidrBlock = world.ask(subnetRows, name) === 'frozen' ? world.ask(subnetView, name)?.cidr : undefined;
  const awaits = world.ask(cidrsThatStay, name);
  return { name, spec: cidrBlock === undefined ? spec : { ...spec, cidrBlock }, ...(awaits !== '' && { awaits }) };
}

/** A query of its own, since the addresses outside change with every release. */
const cidrsThatStay: Query<string> = defineQuery('subnet-cidrs-that-stay', (world, name) =>
  cidrsOf(world.ask(subnetNetworks, name).cidrStays),
);
