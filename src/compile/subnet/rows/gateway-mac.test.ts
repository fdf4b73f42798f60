/** The MACs of a Subnet's router port and its DHCP server: no pod gets them, by name or by chance, and a pod that has one reports that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derivedMac } from '../../../allocate/ledger-request.ts';
import { VENDOR, VENDOR_KEY } from '../../../nb/ownership.ts';
import { rowId } from '../../../nb/row-id.ts';
import { PodScene } from '../../../testing/pod-scene.ts';
import { derivedMac as macOfRow } from '../../row-mac.ts';

const ANNOTATION = 'ovn.kubernetes.io/mac_address';

function scene(spec: object = {}): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.60.0.0/24', namespaces: ['shop'], ...spec });
  made.bench.converge();
  return made;
}

function routerMac({ bench }: PodScene): string {
  return String(bench.row('Logical_Router_Port', 'ovn-cluster-net')?.['mac']);
}

/** For each family with a DHCP server. */
function serverMacs({ bench }: PodScene): readonly string[] {
  return bench.rowIds('DHCP_Options').flatMap((id) => {
    const text = JSON.stringify(bench.row('DHCP_Options', id)?.['options']);
    return /([0-9a-f]{2}:){5}[0-9a-f]{2}/i.exec(text)?.[0] ?? [];
  });
}

/** As Kube-OVN makes it, with a random MAC. */
function legacyRouterPort({ bench }: PodScene, mac: string): void {
  const router = [...bench.northbound.table('Logical_Router')].find(([, { name }]) => name === 'ovn-cluster');
  assert.ok(router !== undefined);
  const parent = { table: 'Logical_Router', uuid: router[0], column: 'ports' };
  const columns = { name: 'ovn-cluster-net', mac, external_ids: new Map([[VENDOR_KEY, VENDOR]]) };
  bench.foreignRow('Logical_Router_Port', '00000000-0000-4000-8000-00000000000a', columns, parent);
}

test('a request for the MAC of the gateway fails, with the field, its value and the next command', () => {
  const made = scene();
  const mac = routerMac(made);
  const rule = `the MAC ${mac} is the gateway's or the DHCP server's of Subnet "net", and no other port may have it`;
  made.pod('asks', { annotations: { [ANNOTATION]: mac.toUpperCase() } });
  const spec = { subnet: 'net', macAddress: mac };
  made.bench.put('vips', { metadata: { name: 'v1' }, spec });
  made.bench.put('ovn-eips', { metadata: { name: 'e1' }, spec: { externalSubnet: 'net', macAddress: mac } });
  made.bench.put('iptables-eips', { metadata: { name: 'e2' }, spec: { externalSubnet: 'net', v4ip: '10.60.0.9', macAddress: mac } });
  const labels = { 'ovn.kubernetes.io/ip_reserved': 'true' };
  made.bench.put('ips', { metadata: { name: 'kept.shop', labels }, spec: { podName: 'kept', namespace: 'shop', podType: '', ...spec } });
  made.bench.converge();
  const { reason, message } = made.bench.condition('pods', 'shop/asks', 'kiln.io/NetworkBound') ?? assert.fail();
  assert.deepEqual(
    [reason, message],
    [
      'AddressConflict',
      `Pod shop/asks: metadata.annotations[${ANNOTATION}] "${mac.toUpperCase()}": ${rule}; kiln explain pod asks -n shop`,
    ],
  );
  assert.equal(made.bench.row('Logical_Switch_Port', 'asks.shop'), undefined);
  assert.equal(made.bench.object('ips', 'asks.shop'), undefined);
  const reported = (resource: 'vips' | 'ovn-eips' | 'iptables-eips', name: string): unknown =>
    made.bench.condition(resource, name, 'Accepted')?.message;
  assert.equal(reported('vips', 'v1'), `Vip v1: spec.macAddress "${mac}": ${rule}; kubectl edit vips.kubeovn.io v1`);
  assert.equal(reported('ovn-eips', 'e1'), `OvnEip e1: spec.macAddress "${mac}": ${rule}; kubectl edit ovn-eips.kubeovn.io e1`);
  assert.equal(
    reported('iptables-eips', 'e2'),
    `IptablesEIP e2: spec.v4ip "10.60.0.9", spec.macAddress "${mac}": ${rule}; kubectl edit iptables-eips.kubeovn.io e2`,
  );
  const ofIp = made.bench.conditionText('ips', 'kept.shop');
  assert.ok(ofIp.includes(`IP kept.shop: spec.macAddress "${mac}": ${rule}; kubectl edit ip kept.shop`), ofIp);
  assert.equal(made.bench.object('subnets', 'net')?.status?.['v4usingIPrange'], '');
});

test('the same MAC is valid in another Subnet, and in one without a router port', () => {
  const made = scene();
  made.subnet('other', { cidrBlock: '10.61.0.0/24' });
  made.subnet('apart', { cidrBlock: '10.62.0.0/24', vlan: 'v' });
  made.bench.converge();
  for (const name of ['other', 'apart'])
    made.pod(name, { annotations: { 'ovn.kubernetes.io/logical_switch': name, [ANNOTATION]: routerMac(made) } });
  made.bench.converge();
  assert.deepEqual(made.portAddresses('other.shop'), [`${routerMac(made)} 10.61.0.2`]);
  assert.deepEqual(made.portAddresses('apart.shop'), [`${routerMac(made)} 10.62.0.2`]);
});

test("no MAC that Kiln chooses is that of the gateway, also if Kube-OVN chose the gateway's", () => {
  const made = new PodScene();
  const first = made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'net' } });
  const mac = derivedMac(`web.shop#${first.metadata.uid}`, 0);
  legacyRouterPort(made, mac);
  made.subnet('net', { cidrBlock: '10.60.0.0/24' });
  made.bench.converge();
  assert.equal(routerMac(made), mac);
  assert.equal(made.addressOf('shop/web'), '10.60.0.2');
  assert.notEqual(made.annotations('shop/web')[ANNOTATION], mac);
});

test("a pod whose MAC becomes the gateway's keeps its port and reports that, and so does an object from a backup", () => {
  const made = scene({ vlan: 'v' });
  const mac = macOfRow(rowId('Logical_Router_Port', 'ovn-cluster-net'));
  made.pod('web', { annotations: { [ANNOTATION]: mac } });
  made.bench.converge();
  const portAddresses = [`${mac} 10.60.0.2`];
  assert.deepEqual(made.portAddresses('web.shop'), portAddresses);
  made.bench.edit('subnets', 'net', { logicalGateway: true });
  made.bench.converge();
  assert.equal(routerMac(made), mac);
  assert.deepEqual(made.portAddresses('web.shop'), portAddresses);
  assert.match(
    made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message ?? '',
    new RegExp(`^Pod shop/web: the MAC ${mac} is the gateway's or the DHCP server's of Subnet "net", and no other port may have it`),
  );
  made.bench.delete('pods', 'shop/web');
  const spec = { subnet: 'net', podName: 'back', namespace: 'shop', podType: '', v6IpAddress: '', macAddress: mac };
  const metadata = {
    name: 'back.shop',
    finalizers: ['kubeovn.io/kube-ovn-controller'],
    labels: { 'ovn.kubernetes.io/ip_reserved': 'true' },
  };
  made.bench.put('ips', { metadata, spec: { ...spec, ipAddress: '10.60.0.9', v4IpAddress: '10.60.0.9' } });
  made.bench.converge();
  assert.match(
    made.bench.conditionText('ips', 'back.shop'),
    new RegExp(`HeldTwice.*IP back\\.shop: MAC ${mac} of Subnet net is also held by the gateway \\(${mac} of Subnet net\\)`),
  );
});

test('a request for the MAC of the DHCP server fails, for the derived MAC and for the one in the spec', () => {
  for (const spec of [{ cidrBlock: '10.60.0.0/24,fd60::/64' }, { dhcpV4Options: 'server_mac=00:00:00:2E:2F:B8' }]) {
    const made = scene({ enableDHCP: true, ...spec });
    const macs = serverMacs(made);
    assert.equal(macs.length, 'cidrBlock' in spec ? 2 : 1);
    for (const [i, mac] of macs.entries()) made.pod(`asks-${i}`, { annotations: { [ANNOTATION]: mac } });
    made.bench.converge();
    for (const i of macs.keys()) {
      const { reason, message } = made.bench.condition('pods', `shop/asks-${i}`, 'kiln.io/NetworkBound') ?? assert.fail();
      assert.equal(reason, 'AddressConflict', message);
      assert.match(message ?? '', /is the gateway's or the DHCP server's of Subnet "net"/);
      assert.equal(made.bench.row('Logical_Switch_Port', `asks-${i}.shop`), undefined);
    }
    const fresh = made.bench.restarted();
    fresh.converge();
    assert.equal(fresh.writes, 0);
  }
});

test('without DHCP any pod may have that MAC; one that has it when DHCP is enabled keeps its port and reports that', () => {
  const made = scene();
  const [mac = ''] = serverMacs(scene({ enableDHCP: true }));
  made.pod('web', { annotations: { [ANNOTATION]: mac } });
  made.bench.converge();
  assert.deepEqual(made.portAddresses('web.shop'), [`${mac} 10.60.0.2`]);
  made.bench.edit('subnets', 'net', { enableDHCP: true });
  made.bench.converge();
  assert.deepEqual(made.portAddresses('web.shop'), [`${mac} 10.60.0.2`]);
  assert.match(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.message ?? '', /the DHCP server's of Subnet "net"/);
});
