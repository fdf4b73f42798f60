import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import { agentRules as ofSubnets } from '../../subnet/agent-rules.ts';
import { agentRules as ofNodes } from '../agent-rules.ts';
import { nodeCondition } from './node-condition.ts';
import { NODE_DEVICE } from './node-interface.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster' } as const;
const JOINED = {
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/ip_address': '100.64.0.2',
  'ovn.kubernetes.io/mac_address': '00:00:00:00:00:01',
  'ovn.kubernetes.io/cidr': '100.64.0.0/16',
  'ovn.kubernetes.io/gateway': '100.64.0.1',
  'ovn.kubernetes.io/port_name': 'node-node-1',
};

test('a node is schedulable once it is in the join network, and the message says what is missing before', () => {
  const world = new NodeWorld();
  const condition = (): string | undefined => {
    const [output] = world.glance(() => nodeCondition(SETTINGS as never).run(world, ''));
    return output?.kind === 'object-condition' ? `${output.status} ${output.message}` : output?.kind;
  };
  assert.equal(condition(), undefined);
  world.nodes.set('node-1', { uid: 'u', addresses: [], annotations: {}, labels: {}, conditions: {} });
  assert.equal(condition(), 'True the controller has given the node no address in the join network yet');
  world.nodes.set('node-1', { uid: 'u', addresses: [], annotations: JOINED, labels: {}, conditions: {} });
  assert.equal(condition(), 'True port ovn0 is not in Open vSwitch yet');
  world.ports.set(NODE_DEVICE, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  assert.equal(condition(), undefined, 'an agent that starts');
  world.devices.set(NODE_DEVICE, { kind: 'absent' });
  world.ports.set(NODE_DEVICE, { externalIds: {}, error: 'no such device' });
  assert.equal(condition(), 'True Open vSwitch cannot use port ovn0: no such device');
  world.ports.set(NODE_DEVICE, { externalIds: {}, error: '' });
  assert.equal(condition(), 'True ovn-controller has not installed the flows of ovn0 yet');
  world.ports.set(NODE_DEVICE, { externalIds: { 'ovn-installed': 'true' }, error: '' });
  assert.equal(condition(), 'True device ovn0 has no address yet');
  world.devices.set(NODE_DEVICE, { kind: 'present', mac: '', mtu: 1400, up: true, addresses: ['100.64.0.2/16'], routes: [] });
  assert.equal(condition(), 'False ovn0 is in the join network');
});

test('beside another primary CNI plugin: the node is joined, and neither its condition, its firewall nor outgoing NAT is touched', () => {
  const world = new NodeWorld();
  world.nodes.set('node-1', { uid: 'u', addresses: [], annotations: JOINED, labels: {}, conditions: {} });
  const outputs = (nonPrimaryCni: boolean): readonly string[] => {
    const settings = { ...SETTINGS, mtu: 1_400, nonPrimaryCni };
    const rules = [...ofNodes(settings), ...ofSubnets(settings)];
    return world
      .glance(() =>
        rules.flatMap((rule) =>
          rule.name === 'node-interface' || rule.name === 'node-condition' || rule.name === 'outgoing-nat' ? rule.run(world, '') : [],
        ),
      )
      .map((output) => (output.kind === 'packet-filter' ? `packet-filter ${output.script === '' ? 'none' : 'some'}` : output.kind));
  };
  assert.deepEqual(outputs(false), ['accepted-device', 'port', 'link', 'object-condition', 'packet-filter some']);
  assert.deepEqual(outputs(true), ['port', 'link', 'packet-filter none']);
});
