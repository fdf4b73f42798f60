/**
 * What a process shows of itself when all is quiet is so: gauges are counts that are kept up as things change, and one that was missed once is wrong for
 * ever. Counted anew from objects and rows, and from what a fresh process wants; who leads, from the Lease and the last transaction.
 */
import { DELETION_BLOCKED, NEEDED_BY_CLUSTER } from '../../src/compile/deletion.ts';
import type { Controller } from '../../src/controller/controller.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { tableOf } from '../../src/nb/row-id.ts';
import { cidrSize } from '../../src/net/cidr.ts';
import { ofFamily, parseDualCidr } from '../../src/net/dual.ts';
import type { MetricName } from '../../src/runtime/metrics.ts';
import { conditionsOf } from '../../src/world/conditions.ts';
import { resourceOfKind, traitsOf } from '../../src/world/resources.ts';
import type { World } from '../../src/world/world.ts';
import type { Gauges } from './gauges.ts';
import { isAccepted, SUBNETS, specOf, text } from './holders.ts';
import type { Finding } from './judge.ts';
import { leaderOf } from './misdeeds.ts';

/** A process, and what it shows. */
export interface Shown {
  readonly name: string;
  readonly identity: string;
  readonly gauges: Gauges;
}

/** What is counted: labels with blanks between, and how many. */
export class Counts extends Map<string, number> {
  count(key: string, by = 1): void {
    if (by !== 0) this.set(key, (this.get(key) ?? 0) + by);
  }
}

const ADDRESSES = 'kiln_subnet_addresses';

type Truth = readonly (readonly [MetricName, Counts])[];

/** @param term of the last transaction that a leader sent */
export function metricsAtRest(
  processes: readonly Shown[],
  fresh: Pick<Controller, 'world' | 'desired'>,
  store: ObjectStore,
  term: number,
): readonly Finding[] {
  const leader = leaderOf(store);
  const ofAll: Truth = [['kiln_owned_rows', ownedRows(fresh.world)]];
  // One that stands by has an opinion of its own of what it would give, and learns what is in a row's way when it leads.
  const ofLeader: Truth = [...wanted(fresh), ...said(store)];
  return processes.flatMap(({ name, identity, gauges }) => {
    const leads = leader === identity;
    const own: Truth = [
      ['kiln_leader', one(leads ? 1 : 0)],
      ['kiln_term', one(leads ? term : 0)],
      ['kiln_ready', one(1)],
    ];
    const found = [...own, ...ofAll, ...(leads ? ofLeader : [])].flatMap(([metric, counts]) =>
      differing(name, metric, gauges.shown(metric), counts),
    );
    return leads ? [...found, ...differing(name, ADDRESSES, ...subnetAddresses(store, gauges.shown(ADDRESSES)))] : found;
  });
}

function differing(process: string, metric: MetricName, shown: ReadonlyMap<string, number>, counts: Counts): readonly Finding[] {
  return [...new Set([...shown.keys(), ...counts.keys()])]
    .filter((key) => (shown.get(key) ?? 0) !== (counts.get(key) ?? 0))
    .map((key) => ({
      kind: `metric ${metric}`,
      message: `${process} shows ${metric} ${shown.get(key) ?? 0}${key === '' ? '' : ` of ${key}`}, and there are ${counts.get(key) ?? 0}`,
    }));
}

function one(value: number): Counts {
  const counts = new Counts();
  counts.count('', value);
  return counts;
}

/** Two of one identity stand for one. */
function ownedRows({ rows }: World): Counts {
  const counts = new Counts();
  for (const id of rows.owned) counts.count(tableOf(id));
  return counts;
}

/** What the rules of a process that has just started want, one by one. */
function wanted({ desired, world }: Pick<Controller, 'world' | 'desired'>): Truth {
  const [rows, conditions, problems] = [new Counts(), new Counts(), new Counts()];
  for (const id of desired.rowIds) if ((desired.row(id)?.rows.length ?? 0) > 0) rows.count(tableOf(id));
  for (const id of desired.objectIds)
    for (const output of desired.object(id))
      for (const { type, status, reason } of output.kind === 'patch' ? (output.conditions ?? []) : []) {
        conditions.count(`${traitsOf(output.resource).kind} ${type} ${status} ${reason}`);
        if (reason === 'Misbound' || reason === 'IPRefused') problems.count(reason);
      }
  for (const [, reservation] of world.reservations.entries()) if (reservation.kind === 'refused') problems.count(reservation.code);
  problems.count('AddressConflict', world.addressConflicts.size);
  return [
    ['kiln_desired_rows', rows],
    ['kiln_row_conflicts', one(world.rowConflicts.size)],
    // What is not as it is wanted is found by others where it stays so.
    ['kiln_drift_rows', new Counts()],
    ['kiln_rows_set_aside', new Counts()],
    ['kiln_object_conditions', conditions],
    ['kiln_ip_problems', problems],
  ];
}

/** What objects say of themselves. */
function said(store: ObjectStore): Truth {
  const [blocked, misbound] = [new Counts(), new Counts()];
  for (const { object } of store.all())
    for (const { type, status, reason } of conditions(object)) {
      if (type === DELETION_BLOCKED && status === 'True' && reason !== NEEDED_BY_CLUSTER) blocked.count(object.kind);
      if (reason === 'Misbound' && !isLetGo(store, object)) misbound.count('');
    }
  return [
    ['kiln_deletion_blocked_objects', blocked],
    ['kiln_misbound_pods', misbound],
  ];
}

/** A pod that ended and holds nothing any more: nobody takes back what it was told. */
function isLetGo(store: ObjectStore, { metadata, status }: KubeObject): boolean {
  const phase = (status as { readonly phase?: string } | undefined)?.phase ?? '';
  if (phase !== 'Succeeded' && phase !== 'Failed') return false;
  return store.get('ips.kubeovn.io', `${metadata.name}.${metadata.namespace ?? ''}`) === undefined;
}

function conditions(object: KubeObject): ReturnType<typeof conditionsOf> {
  const resource = resourceOfKind(object.kind.toLowerCase());
  return resource === undefined ? [] : conditionsOf(resource, object);
}

/** As Subnets say themselves; what is neither free nor in use is kept back. Of one that is not in effect nothing need be shown. @returns what is shown, and what is so */
function subnetAddresses(store: ObjectStore, shown: ReadonlyMap<string, number>): readonly [ReadonlyMap<string, number>, Counts] {
  const counts = new Counts();
  const idle = new Set<string>();
  for (const subnet of store.list(SUBNETS)) {
    const { name } = subnet.metadata;
    if (!isAccepted(subnet)) idle.add(name);
    else
      for (const [states, of] of addressesOf(subnet))
        for (const [state, addresses] of Object.entries(states)) counts.count(`${name} ${of} ${state}`, Number(addresses));
  }
  return [new Map([...shown].filter(([key]) => !idle.has(key.slice(0, key.indexOf(' '))))), counts];
}

function addressesOf(subnet: KubeObject): readonly (readonly [Readonly<Record<string, bigint>>, string])[] {
  const status = (subnet['status'] ?? {}) as Readonly<Record<string, string | undefined>>;
  const networks = parseDualCidr(text(specOf(subnet)['cidrBlock']));
  if (!networks.ok) return [];
  return ([4, 6] as const).flatMap((family) => {
    const network = ofFamily(networks, family);
    if (network === undefined) return [];
    const [available, used] = [BigInt(status[`v${family}availableIPs`] ?? 0), BigInt(status[`v${family}usingIPs`] ?? 0)];
    const [capacity, left] = [cidrSize(network), cidrSize(network) - available - used];
    return [[{ capacity, used, reserved: left > 0n ? left : 0n, available }, `IPv${family}`] as const];
  });
}
