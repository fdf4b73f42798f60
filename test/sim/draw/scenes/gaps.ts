/**
 * Draws what happens while nobody watches: the server forgets the past of a kind, or its watches break, and in the same moment some of its objects go, are made again under
 * another uid; rows change while no connection to the database stands. And a term in the database that nobody who leads has taken: restored from elsewhere, or written by hand.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { IP_POOLS, IPS, NAMESPACES, NODES, PODS, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { wait } from './steps.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { ApiPath, Operation, RowChange, Step } from '../../steps/step.ts';

const KINDS = [PODS, IPS, PODS, IPS, SUBNETS, VPCS, VIPS, IP_POOLS, NODES, NAMESPACES].map((path) => {
  const plural = path.split('/').at(-1) ?? '';
  return [path, path.startsWith('v1/') ? plural : `${plural}.kubeovn.io`, plural] as const;
});

/** Long enough for a list. */
const HEARD_MS = 1_500;

export function drawGap(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted({ unwatched: 6, severed: 2, outrun: 2 })) {
    case 'unwatched':
      return unwatched(random, cluster);
    case 'severed':
      return severed(random);
    case 'outrun':
      return outrun(random);
  }
}

function unwatched(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const [path, table, plural] = random.pick(KINDS);
  const gap: Step = random.chance(0.6) ? { kind: 'fault', fault: 'gone', plural } : { kind: 'fault', fault: 'break-watches', plural };
  const there = cluster.lab.store.list(table).map(({ metadata: { name, namespace = '' } }) => ({ name, namespace }));
  const some = Array.from({ length: Math.min(3, there.length) }, () => random.pick(there));
  return [gap, ...some.map((one) => doing(change(random, path, one))), wait(HEARD_MS)];
}

function change(random: Random, path: ApiPath, { name, namespace }: { readonly name: string; readonly namespace: string }): Operation {
  const one = { path, namespace, name };
  // What everything else is in goes as people let it go.
  if (path === NAMESPACES || path === VPCS || path === SUBNETS || path === NODES)
    return random.chance(0.5) ? { do: 'delete', ...one } : { do: 'recreate', ...one };
  switch (random.weighted({ vanish: 5, recreate: 3, delete: 2 })) {
    case 'vanish':
      return { do: 'vanish', ...one };
    case 'recreate':
      return { do: 'recreate', ...one };
    case 'delete':
      return path === PODS ? { do: 'delete', ...one, grace: 0 } : { do: 'delete', ...one };
  }
}

/** Rows go, come and change while no connection to the database stands; one that was started anew does not know what was before. */
function severed(random: Random): readonly Step[] {
  const down: Step = random.chance(0.6)
    ? { kind: 'fault', fault: 'database-restart', downMs: 1_000 }
    : { kind: 'fault', fault: 'disconnect' };
  const rows = Array.from({ length: 3 }, () => {
    const table = random.pick([
      'Logical_Switch_Port',
      'Logical_Router_Policy',
      'Port_Group',
      'Logical_Switch',
      'ACL',
      'Logical_Router_Port',
    ]);
    const change: RowChange = { kind: random.pick(['delete', 'delete', 'duplicate', 'forget-owner'] as const) };
    return doing({ do: 'row', table, place: random.below(60), change });
  });
  return [down, ...rows, wait(2_500)];
}

/** Who leads meets it with its next transaction: somebody changes a row, so that there is one. */
function outrun(random: Random): readonly Step[] {
  const keys = { drifted: 'yes' };
  return [
    { kind: 'fault', fault: 'term-ahead', by: 1 + random.below(3) },
    doing({ do: 'row', table: 'Logical_Switch', place: random.below(60), change: { kind: 'keys', column: 'external_ids', keys } }),
    wait(random.pick([300, 8_000])),
  ];
}
