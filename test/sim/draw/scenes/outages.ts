/** Scenes of outages: changes while nothing is watched, an API server or a database that is down, and Leases that cannot be renewed. */
import { podSpec } from '../../../../src/testing/drawn-kind.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { ApiPath, Operation, Step } from '../../steps/step.ts';
import { IP_POOLS, IPS, NAMESPACES, NODES, PODS, SUBNETS, VIPS, VPCS } from '../objects.ts';
import type { Random } from '../../cluster/random.ts';
import { create, operation, fault, namespace, remove, CONVERGE, row, wait } from './steps.ts';
import type { Scene } from './scene.ts';

const KINDS = [PODS, IPS, PODS, IPS, SUBNETS, VPCS, VIPS, IP_POOLS, NODES, NAMESPACES];

/** The server compacts the history of a kind, or its watches break, and some of its objects are deleted or made again at the same time. */
const brokenWatches: Scene = (random, cluster) => {
  const path = random.pick(KINDS);
  const plural = path.split('/').at(-1) ?? '';
  const there = cluster.lab.store.list(path.startsWith('v1/') ? plural : `${plural}.kubeovn.io`).map(({ metadata }) => metadata);
  const some = Array.from({ length: Math.min(3, there.length) }, () => random.pick(there));
  return [
    fault(random.chance(0.6) ? { fault: 'gone', plural } : { fault: 'break-watches', plural }),
    ...some.map(({ name, namespace: within = '' }) => operation(change(random, path, { path, name, namespace: within }))),
    wait(1_500),
  ];
};

function change(
  random: Random,
  path: ApiPath,
  one: { readonly path: ApiPath; readonly namespace: string; readonly name: string },
): Operation {
  // Objects that contain others are deleted with their finalizers in place.
  const isHome = [NAMESPACES, VPCS, SUBNETS, NODES].includes(path);
  const how = random.pick(
    isHome ? (['delete', 'recreate'] as const) : (['remove-by-force', 'remove-by-force', 'recreate', 'delete'] as const),
  );
  return how === 'delete' && path === PODS ? { do: how, ...one, grace: 0 } : { do: path === NAMESPACES ? 'delete' : how, ...one };
}

/** Rows are deleted, made and changed while there is no connection to the database. */
const lostDatabaseConnection: Scene = (random) => [
  fault(random.chance(0.6) ? { fault: 'database-restart', downMs: 1_000 } : { fault: 'disconnect' }),
  ...Array.from({ length: 3 }, () => {
    const table = random.pick([
      'Logical_Switch_Port',
      'Logical_Router_Policy',
      'Port_Group',
      'Logical_Switch',
      'ACL',
      'Logical_Router_Port',
    ]);
    return row(table, random.below(60), { kind: random.pick(['delete', 'delete', 'duplicate', 'forget-owner'] as const) });
  }),
  wait(2_500),
];

/** A term in the database that no leader took: the leader meets it with its next transaction. */
const newerTerm: Scene = (random) => [
  fault({ fault: 'term-ahead', by: 1 + random.below(3) }),
  row('Logical_Switch', random.below(60), { kind: 'keys', column: 'external_ids', keys: { drifted: 'yes' } }),
  wait(random.pick([300, 8_000])),
];

/** Transactions fail, twice or more, or the API server rejects writes for longer than one is retried. */
const failingWrites: Scene = (random) => [
  ...(random.chance(0.6)
    ? Array.from({ length: 2 + random.below(4) }, () => fault({ fault: 'transaction', what: 'reject' }))
    : [fault({ fault: 'api', what: { sort: 'write', fate: 'unavailable', after: 0, times: 10_000 } })]),
  ...[...come(['o1', 'o2']), wait(random.pick([3_000, 75_000])), CONVERGE],
];

function come(names: readonly string[], ms = 0): readonly Step[] {
  return [
    ...[...namespace('outages'), ...names.map((name) => remove(PODS, name, 'outages')), wait(1_000)],
    ...names.flatMap((name) => [create(PODS, name, { ...podSpec(), nodeName: 'n0' }, {}, 'outages'), wait(ms)]),
  ];
}

/**
 * The leader's machine sleeps until another process leads, or only its Lease cannot be renewed: it writes nothing once that has expired.
 */
const lostLease: Scene = (random, cluster: SimulatedCluster) => {
  const [leader] = cluster.leaders;
  if (leader === undefined || cluster.controllers.size < 2) return [];
  const names = ['o3', 'o4', 'o5', 'o6'];
  return random.chance(0.5)
    ? [fault({ fault: 'lease-cut', controller: leader.name, ms: 70_000 }), wait(33_000), ...come(names, 3_000)]
    : [
        ...[fault({ fault: 'stop', controller: leader.name, ms: 45_000, asleep: true }), wait(44_990)],
        // Otherwise it asks for its Lease when it wakes, and knows at once.
        ...[fault({ fault: 'api', what: { sort: 'lease', fate: 'unavailable', after: 0, times: 2 } }), wait(20), ...come(names, 100)],
      ];
};

export const OUTAGE_SCENES = { brokenWatches, lostDatabaseConnection, newerTerm, failingWrites, lostLease };
