/** All judges of a cluster, by name. Each finding has the name of its judge. */
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { builtInsServe } from './built-ins.ts';
import { notAsWanted } from './desired-state.ts';
import { ConditionChanges, unsaid } from './events.ts';
import { FinalizerRelease } from './finalizer-release.ts';
import { withoutFinalizer } from './finalizers.ts';
import { holdsBothWays } from './holder-index.ts';
import { invariants } from './invariants.ts';
import type { Judge, Judges, Rest } from './judge.ts';
import { Leadership } from './leadership.ts';
import { Lifecycle } from './lifecycle.ts';
import { NewPods } from './new-pods.ts';
import { objectsSaid } from './object-fields.ts';
import { silentRequests, unfinished } from './progress.ts';
import { Promptness } from './promptness.ts';
import { ownedRow, unownedPort } from './reading.ts';
import { notAllowed, unpinned } from './requests.ts';
import { ReusedIpObjects } from './reused-ip-objects.ts';
import { rowMarks } from './row-marks.ts';
import { carriedOut } from './specs-in-effect.ts';
import { StableAddresses } from './stable-addresses.ts';
import { fieldsCarriedOut } from './subnet-fields.ts';
import { TenantIsolation } from './tenant-isolation.ts';
import { notAskedFirst, wroteInVain } from './transaction-guards.ts';
import { WriteOrder } from './write-order.ts';

export function judgesOf(cluster: SimulatedCluster): Judges {
  const { store } = cluster.lab;
  const { database } = cluster.ovn;
  const byHand = (): boolean => cluster.personActs;
  const now = (): number => cluster.time.now;
  const lifecycle = new Lifecycle(
    store,
    byHand,
    (uid, name, table) => ownedRow(database, uid, name, table),
    (name, pod) => unownedPort(database, name, pod),
  );
  const newPods = new NewPods(store, byHand);
  const tenants = new TenantIsolation(store);
  const looking = (atRest: (rest: Rest) => ReturnType<NonNullable<Judge['atRest']>>): Judge => ({ atRest });
  return new Map<string, Judge>([
    ['invariants', looking((rest) => invariants(rest, (uid) => lifecycle.hasEnded(uid)))],
    ['progress', looking((rest) => [...unfinished(rest), ...silentRequests(rest), ...builtInsServe(store)])],
    ['lifecycle', lifecycle],
    ['desired-state', looking(({ world, fresh }) => notAsWanted(world, fresh.desired, store, database.schema))],
    ['holder-index', looking(({ world }) => holdsBothWays(world))],
    ['specs-in-effect', looking(({ world }) => carriedOut(world))],
    ['fields', looking(({ world }) => fieldsCarriedOut(world))],
    ['object-fields', looking(({ world }) => objectsSaid(world))],
    ['row-marks', looking(({ world }) => rowMarks(world))],
    ['finalizers', looking(({ world }) => withoutFinalizer(world))],
    [
      'finalizer-release',
      new FinalizerRelease(
        store,
        byHand,
        (uid) => ownedRow(database, uid),
        (what) => cluster.alarm('finalizer-release', what),
      ),
    ],
    [
      'new-pods',
      {
        atRest: () => newPods.atRest().filter(({ message }) => !tenants.isRefused(/Pod (\S+\/\S+)/.exec(message)?.[1] ?? '')),
        remember: () => newPods.remember(),
      },
    ],
    ['reused-ip-objects', new ReusedIpObjects(store, byHand)],
    ['stable-addresses', new StableAddresses(store, byHand)],
    ['write-order', new WriteOrder(store, byHand)],
    ['tenant-isolation', tenants],
    ['standing-facts', looking(unsaid)],
    ['condition-changes', new ConditionChanges(store, byHand)],
    ['promptness', new Promptness(cluster.time)],
    ['leadership', new Leadership(store, database, now)],
    [
      'requests',
      {
        sending: (_sender, request) => {
          if (request === undefined) return [];
          const wrong = notAllowed(
            store,
            request,
            (namespace) => lifecycle.evicts(namespace),
            (namespace) => newPods.takesPods(namespace),
          );
          return [wrong, unpinned(request)].flatMap((what) => what ?? []);
        },
      },
    ],
    [
      'transactions',
      {
        transacting: (operations) => notAskedFirst(database, operations),
        transacted: ({ execution, operations, unheard }) => wroteInVain(execution, operations, unheard),
      },
    ],
  ]);
}
