/**
 * Underlay to overlay interconnection by real packets, in both families, in the default Vpc and in a custom one: pods of an underlay Subnet and of
 * overlay Subnets of its Vpc reach each other on two nodes; what is for neither leaves by the physical gateway.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { type AgentNode, PacketCluster, type RunningPod, skip } from './packet-cluster.ts';

const SUBNETS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false };
/** Behind the physical gateway. */
const BEYOND = ['198.51.100.1', '2001:db8:51::1'] as const;

interface Tenant {
  readonly vpc: string;
  readonly underlay: string;
  readonly cidrs: readonly [string, string];
  /** Physical. */
  readonly gateways: readonly [string, string];
  readonly overlay: string;
}

const TENANTS: readonly Tenant[] = [
  {
    ...{ vpc: 'ovn-cluster', underlay: 'under', overlay: 'ovn-default' },
    ...({ cidrs: ['10.68.0.0/24', 'fd68::/64'], gateways: ['10.68.0.1', 'fd68::1'] } as const),
  },
  {
    ...{ vpc: 'blue', underlay: 'apart', overlay: 'inside' },
    ...({ cidrs: ['10.69.0.0/24', 'fd69::/64'], gateways: ['10.69.0.1', 'fd69::1'] } as const),
  },
];

let cluster: PacketCluster;
let outside: NetworkNamespace;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  cluster = await PacketCluster.start({ dualStack: true });
  stops.unshift(() => cluster[Symbol.asyncDispose]());
  for (const { node } of cluster.nodes) await cluster.underlay.connect(node.namespace, 'eth1');
  const [first] = TENANTS.flatMap(({ gateways }) => gateways.map((gateway) => prefixed(gateway)));
  outside = await cluster.underlay.addOutsideHost(
    first ?? '10.68.0.1/24',
    ...TENANTS.flatMap(({ gateways }) => gateways.map(prefixed)).slice(1),
  );
  stops.unshift(() => outside.delete());
  for (const address of BEYOND) await outside.run('ip', 'address', 'add', `${address}/${address.includes(':') ? 128 : 32}`, 'dev', 'lo');
  const named = async (kind: string, plural: string, name: string, spec: object): Promise<void> =>
    await cluster.create(kind, plural, { metadata: { name }, spec });
  await named('ProviderNetwork', 'provider-networks', 'net1', { defaultInterface: 'eth1' });
  await named('Vlan', 'vlans', 'untagged', { id: 0, provider: 'net1' });
  await named('Vpc', 'vpcs', 'blue', {});
  await named('Subnet', 'subnets', 'inside', { vpc: 'blue', cidrBlock: '10.66.0.0/24,fd66::/64' });
  for (const { vpc, underlay, cidrs, gateways } of TENANTS)
    await named('Subnet', 'subnets', underlay, {
      ...{ vpc, cidrBlock: cidrs.join(), gateway: gateways.join(), vlan: 'untagged', u2oInterconnection: true },
    });
});

after(async () => {
  for (const stop of stops) await stop();
});

function prefixed(address: string): `${string}/${number}` {
  return `${address}/${address.includes(':') ? 64 : 24}`;
}

async function runOn(at: number, name: string, subnet: string): Promise<RunningPod> {
  const pod = await cluster.runPod(name, cluster.nodes[at] as AgentNode, { 'ovn.kubernetes.io/logical_switch': subnet });
  stops.unshift(() => pod.sandbox.delete());
  return pod;
}

/** Of both families. */
function addressesOf({ address }: RunningPod): readonly string[] {
  const addresses = address.split(',');
  assert.equal(addresses.length, 2, address);
  return addresses;
}

async function assertReaches(from: RunningPod, what: string, ...addresses: readonly string[]): Promise<void> {
  for (const address of addresses) assert.ok(await from.sandbox.reaches(address), `${from.address} to ${what} ${address}`);
}

for (const { vpc, underlay, overlay, gateways } of TENANTS)
  describe(`Subnet ${underlay} of Vpc ${vpc}`, { skip }, () => {
    let near: RunningPod;
    let far: RunningPod;
    const overlays: RunningPod[] = [];

    test('its pods and those of the overlay of its Vpc reach each other, on one node and on two, in both families', async () => {
      near = await runOn(0, `${underlay}-1`, underlay);
      far = await runOn(1, `${underlay}-2`, underlay);
      for (const at of [0, 1]) overlays.push(await runOn(at, `${overlay}-${at}`, overlay));
      for (const pod of [near, far])
        for (const other of overlays) {
          await assertReaches(pod, 'the overlay', ...addressesOf(other));
          await assertReaches(other, 'the underlay', ...addressesOf(pod));
        }
      await assertReaches(near, 'the other node', ...addressesOf(far));
    });

    test('T69 what is for neither leaves by the physical gateway, and hosts of the physical network reach the pods', async () => {
      for (const pod of [near, far]) {
        await assertReaches(pod, 'the physical gateway', ...gateways);
        await assertReaches(pod, 'a host behind the physical gateway', ...BEYOND);
        for (const address of addressesOf(pod)) assert.ok(await outside.reaches(address), address);
      }
    });

    test('pods of another Vpc are not reached', async () => {
      const stranger = TENANTS.find((tenant) => tenant.vpc !== vpc)?.overlay ?? '';
      const other = await runOn(0, `stranger-of-${underlay}`, stranger);
      for (const address of addressesOf(near)) assert.ok(!(await other.sandbox.reaches(address, { seconds: 1 })), address);
    });

    test('off, pods of the overlay are no longer reached, and the physical gateway is', async () => {
      await cluster.client.mergePatch(SUBNETS, { name: underlay }, { spec: { u2oInterconnection: false } });
      for (const family of ['-4', '-6'])
        for (const pod of [near, far])
          await until('the physical gateway is its own again', async () => {
            const shown = await pod.sandbox.namespace.run('ip', family, 'route', 'show', 'default');
            return shown.includes(`via ${gateways[family === '-4' ? 0 : 1]} `);
          });
      for (const address of overlays.flatMap(addressesOf))
        await until(`${address} is silent`, async () => !(await near.sandbox.reaches(address, { seconds: 1 })));
      await assertReaches(near, 'a host behind the physical gateway', ...BEYOND);
    });
  });
