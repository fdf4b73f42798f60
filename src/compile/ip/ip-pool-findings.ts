/**
 * What is wrong with an IPPool, by itself and beside the others of its Subnet. Of two that overlap, the older is right; of two that were made
 * within one second, the first by name. One that is refused is in nobody's way.
 */
import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { Finding } from '../../api/validation/finding.ts';
import type { IPPoolSpec } from '../../api/kinds/ip-pool.ts';
import type { PoolSubnet } from '../../api/validation/ip-pool-validation.ts';
import { ipPoolFindings, ipPoolOverlaps } from '../../api/validation/ip-pool-validation.ts';
import { PoolRanges } from '../../api/validation/pool-ranges.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetSpec } from '../subnet/judging/subnet-basics.ts';
import { subnetRows } from '../subnet/judging/subnet-state.ts';
import { cidrsOf } from '../subnet/judging/subnet-networks.ts';
import { subnetNetworks, subnetView } from '../subnet/judging/subnet-view.ts';
import { ipPoolAddresses } from './ip-pool-subnet.ts';

export interface PoolView {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  readonly spec: IPPoolSpec;
}

export const poolView: Query<PoolView | undefined> = defineQuery('ip-pool-view', (world, name) => {
  const pool = world.ipPools.get(name);
  if (pool === undefined) return undefined;
  return { name, uid: pool.metadata.uid, created: pool.metadata.creationTimestamp, terminating: isTerminating(pool), spec: pool.spec };
});

const NONE: readonly Finding[] = [];

export function poolFindings(world: World, { name, spec }: PoolView): readonly Finding[] {
  const [own, overlaps] = [world.ask(ownFindings, name), world.ask(poolOverlaps, spec.subnet).get(name) ?? NONE];
  return own.length === 0 ? overlaps : own;
}

/** The pools of a Subnet that are in order, the oldest first. */
export function validPools(world: World, subnet: string): readonly string[] {
  const overlaps = world.ask(poolOverlaps, subnet);
  return world.ask(poolsByAge, subnet).filter((name) => !overlaps.has(name) && world.ask(ownFindings, name).length === 0);
}

/** Names. Their usage changes with every pod, and their age never. */
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

/** By pool of the Subnet: what it shares with older ones. One pass for all of them, so that many pools cost no square. */
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
 * What the pools of a Subnet are held against. Where a network runs and the spec cannot be carried out, they are of that one. Of a CIDR
 * that waits for addresses in use nobody is given what it leaves out, so there the spec counts, and the pool says what is in effect.
 */
export function poolSubnet(world: World, name: string): PoolSubnet | undefined {
  const spec = world.ask(subnetSpec, name);
  if (spec === undefined) return undefined;
  const cidrBlock = world.ask(subnetRows, name) === 'frozen' ? world.ask(subnetView, name)?.cidr : undefined;
  const awaits = world.ask(cidrsThatStay, name);
  return { name, spec: cidrBlock === undefined ? spec : { ...spec, cidrBlock }, ...(awaits !== '' && { awaits }) };
}

/** A query of its own: who has addresses outside changes with every one of them that goes. */
const cidrsThatStay: Query<string> = defineQuery('subnet-cidrs-that-stay', (world, name) =>
  cidrsOf(world.ask(subnetNetworks, name).cidrStays),
);
