/** What other programs do on a simulated node: things of their own, and damage to the agent's. */
import { portKey } from '../../../src/agent/world/port-keys.ts';
import { type Link, type Namespace } from './kernel.ts';
import { isRow, keysOf } from './open-vswitch.ts';
import type { SimulatedNode } from './simulated-node.ts';

export type Foreign = 'link' | 'port' | 'bridge' | 'key' | 'table' | 'rule' | 'route' | 'firewall' | 'same-port';
export type Harm =
  | 'link'
  | 'link-down'
  | 'link-mtu'
  | 'pod-address'
  | 'pod-route'
  | 'pod-link'
  | 'pod-mac'
  | 'queue'
  | 'keys'
  | 'mirror-link'
  | 'port'
  | 'iface-id'
  | 'table'
  | 'flush'
  | 'node-device'
  | 'node-link'
  | 'node-address'
  | 'node-routes'
  | 'node-port'
  | 'settings';

/** Keys of `Open_vSwitch.external_ids` that other programs set. */
export const FOREIGN_KEY = 'other-program';

/** That another program gives to devices of pods. */
export const FOREIGN_MAC = '02:00:00:00:00:77';

export function makeForeign(node: SimulatedNode, what: Foreign, number: number): void {
  const { kernel } = node;
  const name = `other${number}`;
  switch (what) {
    case 'link':
      return void foreignLink(kernel.host, node, name);
    case 'port':
      return addPort(node, 'br-int', name, {});
    case 'same-port':
      // Another vendor's Interface with the name of a sandbox to come cannot be foreseen; this one has the vendor alone.
      return addPort(node, 'br-int', name, { vendor: 'kube-ovn' });
    case 'bridge':
      if (rowNamed(node, 'Bridge', `br-${name}`) === undefined)
        node.vswitch.transact([
          { op: 'insert', table: 'Bridge', row: { name: `br-${name}` }, 'uuid-name': 'bridge' },
          { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['bridges', 'insert', ['named-uuid', 'bridge']]] },
        ]);
      return;
    case 'key':
      node.vswitch.transact([setKeys('Open_vSwitch', [], { [`${FOREIGN_KEY}-${number}`]: 'x', hostname: 'n1' })]);
      return;
    case 'table':
      return void kernel.tables.set(`ip ${name}`, { by: 'other', text: '  chain c {\n  }' });
    case 'firewall':
      return void kernel.tables.set('ip filter', {
        by: 'other',
        text: '  chain FORWARD {\n    drop # handle 1\n  }\n  chain INPUT {\n  }',
      });
    case 'rule':
      kernel.host.rules = [
        ...kernel.host.rules,
        { family: 4, by: 'other', from: '198.51.100.0/24', table: '77', priority: 7_000 + number, proto: 'static' },
      ];
      return;
    case 'route':
      foreignLink(kernel.host, node, name);
      kernel.addRoute(
        kernel.host,
        {
          family: 4,
          by: 'other',
          dst: `203.0.113.${number}/32`,
          dev: name,
          via: `198.51.100.${10 + number}`,
          table: '254',
          proto: 'static',
        },
        true,
      );
  }
}

export function harm(node: SimulatedNode, what: Harm, number: number): void {
  const { kernel } = node;
  const { host } = kernel;
  const device = host.links.get('ovn0');
  const links = [...host.links.values()].filter(({ by, kind }) => by === 'agent' && kind === 'veth');
  const ports = [...node.vswitch.database.rows('Interface')].filter(([, row]) => keysOf(row).has(portKey.container));
  const [link] = links.slice(number);
  const [port] = ports.slice(number);
  switch (what) {
    case 'link':
      return link === undefined ? undefined : kernel.removeLink(link);
    case 'link-down':
      return link === undefined ? undefined : kernel.setUp(link, false);
    case 'link-mtu':
      if (link !== undefined) link.mtu = 600;
      return;
    case 'pod-address':
      for (const { text, scope } of link?.peer?.addresses ?? [])
        if (scope === 'global' && link?.peer !== undefined) kernel.removeAddress(link.peer, text);
      return;
    case 'pod-route': {
      const inside = link?.peer?.inside;
      if (inside !== undefined) inside.routes = inside.routes.filter(({ via }) => via === undefined);
      return;
    }
    case 'pod-link':
      return link?.peer === undefined ? undefined : kernel.setUp(link.peer, false);
    case 'pod-mac':
      if (link?.peer !== undefined) link.peer.mac = FOREIGN_MAC;
      return;
    case 'queue':
      for (const one of links) one.queue = 'noqueue';
      return;
    case 'mirror-link': {
      const mirror = host.links.get('mirror0');
      return mirror === undefined ? undefined : kernel.removeLink(mirror);
    }
    case 'keys':
      // As `ovs-vsctl clear interface NAME external_ids`.
      if (port !== undefined)
        node.vswitch.transact([{ op: 'update', table: 'Interface', where: isRow(port[0]), row: { external_ids: ['map', []] } }]);
      return;
    case 'port':
      return port === undefined ? undefined : removePort(node, String(port[1]['name']));
    case 'node-port':
      return removePort(node, 'ovn0');
    case 'iface-id':
      if (port !== undefined)
        node.vswitch.transact([
          { op: 'mutate', table: 'Interface', where: isRow(port[0]), mutations: [['external_ids', 'delete', ['set', [portKey.port]]]] },
        ]);
      return;
    case 'settings':
      node.vswitch.transact([setKeys('Open_vSwitch', [], { 'ovn-encap-ip': '192.0.2.99' })]);
      return;
    case 'table':
      return void kernel.tables.delete('inet kiln');
    case 'flush':
      return kernel.tables.clear();
    case 'node-device':
      return device === undefined ? undefined : kernel.setUp(device, false);
    case 'node-link':
      return device === undefined ? undefined : kernel.removeLink(device);
    case 'node-address':
      for (const { text, scope } of device?.addresses ?? [])
        if (scope === 'global' && device !== undefined) kernel.removeAddress(device, text);
      return;
    case 'node-routes':
      // `ip route flush` takes that of the kernel as well.
      host.routes = host.routes.filter(({ dev }) => dev !== 'ovn0');
  }
}

function foreignLink(host: Namespace, { kernel }: SimulatedNode, name: string): Link {
  const present = host.links.get(name);
  if (present !== undefined) return present;
  const link = kernel.addLink(host, { name, by: 'other', kind: 'dummy', mac: '02:00:00:00:00:09', mtu: 1500 });
  kernel.setUp(link, true);
  kernel.addAddress(link, '198.51.100.1/24', true);
  return link;
}

function addPort(node: SimulatedNode, bridge: string, name: string, ids: Readonly<Record<string, string>>): void {
  const row = rowNamed(node, 'Bridge', bridge);
  if (row === undefined || rowNamed(node, 'Interface', `p-${name}`) !== undefined) return;
  node.vswitch.transact([
    { op: 'insert', table: 'Interface', row: { name: `p-${name}`, type: 'internal', external_ids: mapOf(ids) }, 'uuid-name': 'interface' },
    { op: 'insert', table: 'Port', row: { name: `p-${name}`, interfaces: ['named-uuid', 'interface'] }, 'uuid-name': 'port' },
    { op: 'mutate', table: 'Bridge', where: isRow(row), mutations: [['ports', 'insert', ['named-uuid', 'port']]] },
  ]);
}

function removePort(node: SimulatedNode, name: string): void {
  const port = rowNamed(node, 'Port', name);
  if (port !== undefined)
    node.vswitch.transact([{ op: 'mutate', table: 'Bridge', where: [], mutations: [['ports', 'delete', ['set', [['uuid', port]]]]] }]);
}

function rowNamed(node: SimulatedNode, table: string, name: string): ReturnType<typeof find> {
  return find(node, table, name);
}

function find(node: SimulatedNode, table: string, name: string): Parameters<typeof isRow>[0] | undefined {
  for (const [uuid, row] of node.vswitch.database.rows(table)) if (row['name'] === name) return uuid;
  return undefined;
}

function setKeys(table: string, where: readonly unknown[], keys: Readonly<Record<string, string>>): unknown {
  return {
    op: 'mutate',
    table,
    where,
    mutations: [
      ['external_ids', 'delete', ['set', Object.keys(keys)]],
      ['external_ids', 'insert', mapOf(keys)],
    ],
  };
}

function mapOf(keys: Readonly<Record<string, string>>): unknown {
  return ['map', Object.entries(keys)];
}
