/** Does one step to the simulated cluster. What cannot be done (the object is gone, the server refuses) is not done. */
import type { JsonObject } from '../../src/lab/apiserver/json.ts';
import { clone } from '../../src/lab/apiserver/json.ts';
import { applyMergePatch } from '../../src/lab/apiserver/patch/merge-patch.ts';
import type { Uuid } from '../../src/ovsdb/index.ts';
import type { StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { Fault, Operation, RowChange } from './step.ts';

/** Namespace of everything a stranger makes in the database. */
const STRANGER = 'stranger';

export function carryOut(cluster: SimulatedCluster, operation: Operation): void {
  switch (operation.do) {
    case 'create':
      cluster.create(operation.path, operation.namespace, clone(operation.object));
      return;
    case 'edit':
      cluster.update(
        operation.path,
        operation.namespace,
        operation.name,
        (current) => applyMergePatch(current, clone(operation.patch)) as JsonObject,
        operation.status === true ? 'status' : undefined,
      );
      return;
    case 'delete':
      cluster.delete(operation.path, operation.namespace, operation.name, operation.grace);
      return;
    case 'strip':
      cluster.update(operation.path, operation.namespace, operation.name, (current) => withoutFinalizers(current));
      return;
    case 'vanish':
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
      return changeRow(cluster, operation.table, operation.place, operation.change);
    case 'foreign':
      return foreign(cluster, operation.name, operation.what);
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
      ...(annotations === undefined ? {} : { annotations: byPeople(annotations as JsonObject) }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(before['spec'] === undefined ? {} : { spec: before['spec'] }),
  };
  cluster.create(path, namespace, patch === undefined ? object : (applyMergePatch(object, clone(patch)) as JsonObject));
}

const ASKED = /\/(logical_switch|ip_address|ip_pool|networks)$/;

/** Without what a controller said. */
function byPeople(annotations: JsonObject): JsonObject {
  const allocated = annotations['ovn.kubernetes.io/allocated'] !== undefined;
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => ASKED.test(key) && (!allocated || key.endsWith('/networks'))));
}

/** Rows in an order that does not depend on their UUIDs. */
function ordered(cluster: SimulatedCluster, table: string): [Uuid, StoredRow][] {
  const text = (row: StoredRow): string =>
    ['name', 'priority', 'match', 'ip_prefix', 'cidr', 'direction'].map((column) => String(row[column] ?? '')).join(' ');
  return [...cluster.ovn.database.rows(table)]
    .map(([uuid, row]) => [text(row), uuid, row] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, uuid, row]) => [uuid, row]);
}

function changeRow(cluster: SimulatedCluster, table: string, place: number, change: RowChange): void {
  const rows = ordered(cluster, table);
  const found = rows[place % Math.max(1, rows.length)];
  if (found === undefined) return;
  const [uuid] = found;
  const where = [['_uuid', '==', ['uuid', uuid]]];
  switch (change.kind) {
    case 'delete': {
      const parents = parentsOf(cluster, table, uuid);
      cluster.byHand([
        ...parents.map(([parent, column, of]) => ({
          op: 'mutate',
          table: of,
          where: [['_uuid', '==', ['uuid', parent]]],
          mutations: [[column, 'delete', ['set', [['uuid', uuid]]]]],
        })),
        { op: 'delete', table, where },
      ]);
      return;
    }
    case 'forget-owner':
      cluster.byHand([{ op: 'mutate', table, where, mutations: [['external_ids', 'delete', ['set', ['kiln.io/owner', 'kiln.io/uid']]]] }]);
      return;
    case 'set':
      cluster.byHand([{ op: 'update', table, where, row: change.columns }]);
      return;
    case 'clear-members':
      cluster.byHand([{ op: 'update', table, where, row: { [change.column]: ['set', []] } }]);
  }
}

const PARENTS: readonly (readonly [child: string, parent: string, column: string])[] = [
  ['Logical_Switch_Port', 'Logical_Switch', 'ports'],
  ['Logical_Router_Port', 'Logical_Router', 'ports'],
  ['Logical_Router_Static_Route', 'Logical_Router', 'static_routes'],
  ['Logical_Router_Policy', 'Logical_Router', 'policies'],
  ['ACL', 'Logical_Switch', 'acls'],
  ['ACL', 'Port_Group', 'acls'],
];

function parentsOf(cluster: SimulatedCluster, table: string, uuid: Uuid): [Uuid, string, string][] {
  return PARENTS.filter(([child]) => child === table).flatMap(([, parent, column]) =>
    [...cluster.ovn.database.rows(parent)]
      .filter(([, row]) => (row[column] as ReadonlySet<unknown>).has(uuid))
      .map(([of]): [Uuid, string, string] => [of, column, parent]),
  );
}

function foreign(cluster: SimulatedCluster, name: string, kind: Extract<Operation, { readonly do: 'foreign' }>['what']): void {
  const mark = ['map', [[STRANGER, name]]];
  const switches = ordered(cluster, 'Logical_Switch').filter(
    ([, row]) => (row['external_ids'] as ReadonlyMap<string, string>).get('vendor') === 'kube-ovn',
  );
  const place = Array.from(name).reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  const ours = switches[place % Math.max(1, switches.length)]?.[0];
  switch (kind) {
    case 'switch':
      cluster.byHand([
        { op: 'insert', table: 'Logical_Switch_Port', row: { name: `${name}-port`, external_ids: mark }, 'uuid-name': 'port' },
        { op: 'insert', table: 'Logical_Switch', row: { name, external_ids: mark, ports: ['named-uuid', 'port'] } },
      ]);
      return;
    case 'load-balancer':
      cluster.byHand([
        { op: 'insert', table: 'Load_Balancer', row: { name, external_ids: mark, vips: ['map', [['10.9.9.9:80', '10.1.1.1:80']]] } },
      ]);
      return;
    case 'same-name':
      cluster.byHand([{ op: 'insert', table: 'Logical_Switch', row: { name: `s${place % 8}`, external_ids: mark } }]);
      return;
    case 'port-in-ours':
    case 'acl-in-ours': {
      if (ours === undefined) return;
      const [table, column, row] =
        kind === 'port-in-ours'
          ? (['Logical_Switch_Port', 'ports', { name: `${name}-port`, external_ids: mark }] as const)
          : (['ACL', 'acls', { priority: 7, direction: 'to-lport', match: 'ip4', action: 'drop', external_ids: mark }] as const);
      cluster.byHand([
        { op: 'insert', table, row, 'uuid-name': 'made' },
        {
          op: 'mutate',
          table: 'Logical_Switch',
          where: [['_uuid', '==', ['uuid', ours]]],
          mutations: [[column, 'insert', ['named-uuid', 'made']]],
        },
      ]);
      return;
    }
    case 'remove':
      return removeForeign(cluster, name);
  }
}

function removeForeign(cluster: SimulatedCluster, name: string): void {
  for (const table of ['Logical_Switch_Port', 'ACL', 'Logical_Switch', 'Load_Balancer']) {
    for (const [uuid, row] of ordered(cluster, table)) {
      if ((row['external_ids'] as ReadonlyMap<string, string>).get(STRANGER) !== name) continue;
      const parents = parentsOf(cluster, table, uuid);
      cluster.byHand([
        ...parents.map(([parent, column, of]) => ({
          op: 'mutate',
          table: of,
          where: [['_uuid', '==', ['uuid', parent]]],
          mutations: [[column, 'delete', ['set', [['uuid', uuid]]]]],
        })),
        { op: 'delete', table, where: [['_uuid', '==', ['uuid', uuid]]] },
      ]);
    }
  }
}

export function inflict(cluster: SimulatedCluster, fault: Fault): void {
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
    case 'stop': {
      const controller = cluster.controllers.get(fault.controller);
      if (controller === undefined || controller.clock.stopped) return;
      controller.clock.stop();
      cluster.time.after(fault.ms, () => {
        if (fault.asleep) controller.clock.lose(fault.ms);
        controller.clock.continue();
      });
      return;
    }
    case 'jump':
      cluster.controllers.get(fault.controller)?.clock.jump(fault.ms);
      return;
    case 'term-lost':
      cluster.byHand([{ op: 'mutate', table: 'NB_Global', where: [], mutations: [['external_ids', 'delete', ['set', ['kiln.io/term']]]] }]);
  }
}
