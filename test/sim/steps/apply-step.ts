/** Applies one step to the simulated cluster. A step that is impossible (the object is gone, the server rejects it) has no effect. */
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import { writers } from '../../../src/invariants/writers.ts';
import { clone } from '../../../lab/apiserver/json.ts';
import { applyMergePatch } from '../../../lab/apiserver/patch/merge-patch.ts';
import { changeRow } from './edit-row.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Fault, Operation } from './step.ts';
import { makeForeign, race } from './foreign-rows.ts';

/** Applies what a user or another program does. */
export function applyOperation(cluster: SimulatedCluster, operation: Operation): void {
  cluster.userActs = true;
  act(cluster, operation);
  cluster.userActs = false;
}

function act(cluster: SimulatedCluster, operation: Operation): void {
  switch (operation.do) {
    case 'create':
      cluster.create(operation.path, operation.namespace, clone(operation.object));
      return;
    case 'edit':
      cluster.update(
        operation.path,
        operation.namespace,
        operation.name,
        (current) => applyMergePatch(current, operation.patch) as JsonObject,
        operation.status === true ? 'status' : undefined,
      );
      return;
    case 'delete':
      cluster.delete(operation.path, operation.namespace, operation.name, operation.grace);
      return;
    case 'remove-finalizers':
      cluster.update(operation.path, operation.namespace, operation.name, (current) => withoutFinalizers(current));
      return;
    case 'remove-by-force':
      cluster.delete(operation.path, operation.namespace, operation.name, 0);
      cluster.update(operation.path, operation.namespace, operation.name, (current) => withoutFinalizers(current));
      return;
    case 'recreate':
      return recreate(cluster, operation);
    case 'node':
      if (operation.up) cluster.workloads.startNode(operation.name);
      else cluster.workloads.stopNode(operation.name);
      return;
    case 'row':
      return changeRow(cluster, operation);
    case 'foreign':
      return makeForeign(cluster, operation);
  }
}

function withoutFinalizers(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), finalizers: [] } };
}

function recreate(cluster: SimulatedCluster, { path, namespace, name, patch }: Extract<Operation, { readonly do: 'recreate' }>): void {
  let before: JsonObject | undefined;
  cluster.update(path, namespace, name, (current) => {
    before = clone(current);
    return withoutFinalizers(current);
  });
  if (before === undefined) return;
  cluster.delete(path, namespace, name, 0);
  const { labels, annotations, ownerReferences } = before['metadata'] as JsonObject;
  const object: JsonObject = {
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations: requestedAnnotations(annotations as JsonObject) }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(before['spec'] === undefined ? {} : { spec: before['spec'] }),
  };
  cluster.create(path, namespace, patch === undefined ? object : (applyMergePatch(object, clone(patch)) as JsonObject));
}

const ASKED = /\/(logical_switch|ip_address|ip_pool|networks)$/;

/** The annotations without those that a controller wrote. */
function requestedAnnotations(annotations: JsonObject): JsonObject {
  const allocated = annotations['ovn.kubernetes.io/allocated'] !== undefined;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => ASKED.test(key) && (!allocated || key.endsWith('/networks'))));
}

export function injectFault(cluster: SimulatedCluster, fault: Fault): void {
  const controllers = [...cluster.controllers.values()];
  switch (fault.fault) {
    case 'api':
      return cluster.faults.arm(fault.what);
    case 'transaction':
      return cluster.faults.armTransaction(fault.what);
    case 'break-watches':
      for (const { transport } of controllers) transport.breakWatches(fault.plural);
      return;
    case 'gone':
      cluster.forgetPast(fault.plural);
      return;
    case 'end-watches':
      return cluster.api.endWatches();
    case 'delay':
      return cluster.faults.delay(fault.plural, fault.ms);
    case 'repeat':
      return cluster.faults.repeat(fault.plural, fault.times);
    case 'disconnect':
      return cluster.ovn.disconnect();
    case 'database-restart':
      cluster.ovn.stop();
      cluster.ovn.restart();
      cluster.time.after(fault.downMs, () => cluster.ovn.start());
      return;
    case 'database-leader':
      return cluster.ovn.moveLeader();
    case 'kill':
      return cluster.killAfterWrites(fault.controller, fault.afterWrites, fault.restartMs);
    case 'stop':
      cluster.controllers.get(fault.controller)?.stop(fault.ms, fault.asleep);
      return;
    case 'stop-sending':
      cluster.controllers.get(fault.controller)?.stopSending(fault.ms);
      return;
    case 'lease-cut':
      cluster.controllers.get(fault.controller)?.cutLease(fault.ms);
      return;
    case 'jump':
      cluster.dateJumps++;
      cluster.controllers.get(fault.controller)?.clock.jump(fault.ms);
      return;
    case 'race':
      cluster.race = (operations) => race(cluster, operations, fault.how);
      return;
    case 'overtake':
      cluster.overtaking = (path, namespace, name) => applyOperation(cluster, { do: fault.how, path, namespace, name });
      return;
    case 'term-ahead':
      return cluster.advanceTerm(fault.by);
    case 'term-lost':
      // Once the term is gone, a process with an older one may write it again until the newest leader notices. So what was written so far
      // is checked now, and the log starts anew.
      for (const { message } of writers(cluster.log)) cluster.alarm('invariants', `I10: ${message}`);
      cluster.log.length = 0;
      cluster.byHand([{ op: 'mutate', table: 'NB_Global', where: [], mutations: [['external_ids', 'delete', ['set', ['kiln.io/term']]]] }]);
  }
}
