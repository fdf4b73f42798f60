/** All checks of a cluster, by name. Each finding has the name of its check. */
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { builtInFindings } from './built-ins.ts';
import { desiredStateFindings } from './desired-state.ts';
import { ConditionChanges, missingEvents } from './events.ts';
import { FinalizerRelease } from './finalizer-release.ts';
import { missingFinalizers } from './finalizers.ts';
import { dependencyIndexFindings } from './dependency-index.ts';
import { invariants } from './invariants.ts';
import { unjournaledDeletions } from './journal.ts';
import type { Check, Checks, ConvergedCluster } from './check.ts';
import { Leadership } from './leadership.ts';
import { Lifecycle } from './lifecycle.ts';
import { NewPods } from './new-pods.ts';
import { objectFieldFindings } from './object-fields.ts';
import { unansweredRequests, unfinishedObjects } from './progress.ts';
import { Promptness } from './promptness.ts';
import { ownedRow, unownedPort } from './observed-state.ts';
import { forbiddenRequest, requestWithoutPreconditions } from './requests.ts';
import { ReusedIpObjects } from './reused-ip-objects.ts';
import { rowKeyFindings } from './row-keys.ts';
import { specFindings } from './specs-in-effect.ts';
import { StableAddresses } from './stable-addresses.ts';
import { fieldFindings } from './subnet-fields.ts';
import { TenantIsolation } from './tenant-isolation.ts';
import { missingGuards, redundantOperations } from './transaction-guards.ts';
import { WriteOrder } from './write-order.ts';

export function checksOf(cluster: SimulatedCluster): Checks {
  const { store } = cluster.lab;
  const { database } = cluster.ovn;
  const byHand = (): boolean => cluster.userActs;
  const now = (): number => cluster.time.now;
  const lifecycle = new Lifecycle(
    store,
    byHand,
    (uid, name, table) => ownedRow(database, uid, name, table),
    (name, pod) => unownedPort(database, name, pod),
  );
  const newPods = new NewPods(store, byHand);
  const tenants = new TenantIsolation(store);
  const check = (whenConverged: (converged: ConvergedCluster) => ReturnType<NonNullable<Check['whenConverged']>>): Check => ({
    whenConverged,
  });
  return new Map<string, Check>([
    ['invariants', check((converged) => invariants(converged, (uid) => lifecycle.hasEnded(uid)))],
    ['progress', check((converged) => [...unfinishedObjects(converged), ...unansweredRequests(converged), ...builtInFindings(store)])],
    ['lifecycle', lifecycle],
    ['desired-state', check(({ world, fresh }) => desiredStateFindings(world, fresh.desired, store, database.schema))],
    ['journal', { transacted: (transaction) => unjournaledDeletions(cluster, transaction) }],
    ['dependency-index', check(({ world }) => dependencyIndexFindings(world))],
    ['specs-in-effect', check(({ world }) => specFindings(world))],
    ['fields', check(({ world }) => fieldFindings(world))],
    ['object-fields', check(({ world }) => objectFieldFindings(world))],
    ['row-keys', check(({ world }) => rowKeyFindings(world))],
    ['finalizers', check(({ world }) => missingFinalizers(world))],
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
        whenConverged: () =>
          newPods.whenConverged().filter(({ message }) => !tenants.isNotAdmitted(/Pod (\S+\/\S+)/.exec(message)?.[1] ?? '')),
        baseline: () => newPods.baseline(),
      },
    ],
    ['reused-ip-objects', new ReusedIpObjects(store, byHand)],
    ['stable-addresses', new StableAddresses(store, byHand)],
    ['write-order', new WriteOrder(store, byHand)],
    ['tenant-isolation', tenants],
    ['missing-events', check(missingEvents)],
    ['condition-changes', new ConditionChanges(store, byHand)],
    ['promptness', new Promptness(cluster.time)],
    ['leadership', new Leadership(store, database, now)],
    [
      'requests',
      {
        sending: (_sender, request) => {
          if (request === undefined) return [];
          const forbidden = forbiddenRequest(
            store,
            request,
            (namespace) => lifecycle.evicts(namespace),
            (namespace) => newPods.takesPods(namespace),
          );
          return [forbidden, requestWithoutPreconditions(request)].flatMap((fault) => fault ?? []);
        },
      },
    ],
    [
      'transactions',
      {
        transacting: (operations) => missingGuards(database, operations),
        transacted: ({ execution, operations, unreceived }) => redundantOperations(execution, operations, unreceived),
      },
    ],
  ]);
}
