/** Vips, EIPs and pods have their addresses from one ledger: deletions, removals by force, and restarts. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { port, rowsNamed } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

const object = (kind: string, name: string, spec: object): string =>
  `---\napiVersion: kubeovn.io/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\nspec: ${JSON.stringify(spec)}\n`;

/** Waits until the status of a Subnet has this count and range of used IPv4 addresses. */
async function using(cluster: ScenarioCluster, subnet: string, count: number, range: string): Promise<void> {
  await cluster.eventually(`Subnet ${subnet} has ${count} in use: ${range}`, async () => {
    const { status } = await cluster.get('subnet', subnet);
    const usage = `${String(status?.['v4usingIPs'])} ${String(status?.['v4usingIPrange'])}`;
    if (usage !== `${count} ${range}`) throw new Error(`status has ${usage}`);
    return true;
  });
}

async function statusOf(cluster: ScenarioCluster, kind: string, name: string, field: string): Promise<string> {
  return await cluster.eventually(`${kind} ${name} has ${field}`, async () => {
    const value = (await cluster.get(kind, name)).status?.[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  });
}

export const vipsAndEips: readonly Scenario[] = [
  {
    name: 'C18 an OvnEip whose finalizer a user removes while it is being deleted frees its address and its port, and counts agree with ranges',
    run: async (cluster) => {
      const all = network('strip', '10.160.0.0/29');
      await cluster.apply(
        all +
          object('OvnEip', 'strip-gw', { externalSubnet: 'strip-net', type: 'lsp' }) +
          object('OvnEip', 'strip-eip', { externalSubnet: 'strip-net', v4Ip: '10.160.0.6' }) +
          object('OvnSnatRule', 'strip-snat', { ovnEip: 'strip-eip', vpcSubnet: 'strip-net' }),
      );
      assert.equal(await statusOf(cluster, 'ovn-eip', 'strip-gw', 'v4Ip'), '10.160.0.2');
      await statusOf(cluster, 'ovn-eip', 'strip-eip', 'v4Ip');
      await cluster.converged();
      assert.equal(port(await cluster.dump(), 'strip-gw')['external_ids'] === undefined, false);
      await using(cluster, 'strip-net', 2, '10.160.0.2,10.160.0.6');
      await cluster.delete('ovn-eip', 'strip-eip');
      const { message } = await condition(cluster, 'ovn-eip', 'strip-eip', 'DeletionBlocked', 'True');
      assert.match(message, /OvnSnatRule strip-snat/);
      await cluster.patch('ovn-eip', 'strip-gw', { metadata: { finalizers: [] } });
      await cluster.delete('ovn-eip', 'strip-gw');
      await untilDeleted(cluster, 'ovn-eip', 'strip-gw');
      await using(cluster, 'strip-net', 1, '10.160.0.6');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'strip-gw'), []);
      await cluster.delete('ovn-snat-rule', 'strip-snat');
      await untilDeleted(cluster, 'ovn-eip', 'strip-eip');
      await using(cluster, 'strip-net', 0, '');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C66 the address of an OvnEip removed by force is not allocated again before the last rule that names it is gone',
    alone: true,
    run: async (cluster) => {
      const all = network('booked', '10.161.0.0/29');
      await cluster.apply(
        all +
          object('OvnEip', 'booked-eip', { externalSubnet: 'booked-net' }) +
          object('OvnFip', 'booked-fip', { ovnEip: 'booked-eip', ipName: 'a.booked' }),
      );
      assert.equal(await statusOf(cluster, 'ovn-eip', 'booked-eip', 'v4Ip'), '10.161.0.2');
      await cluster.eventually('the rule bears the address', async () => {
        const { labels = {} } = (await cluster.get('ovn-fip', 'booked-fip')).metadata;
        return labels['ovn.kubernetes.io/eip_v4_ip'] === '10.161.0.2';
      });
      await cluster.delete('ovn-eip', 'booked-eip');
      await condition(cluster, 'ovn-eip', 'booked-eip', 'DeletionBlocked', 'True');
      await cluster.controller.stop();
      await cluster.patch('ovn-eip', 'booked-eip', { metadata: { finalizers: [] } });
      await untilDeleted(cluster, 'ovn-eip', 'booked-eip');
      await cluster.startController().untilLogged('writing');
      await cluster.apply(object('OvnEip', 'booked-other', { externalSubnet: 'booked-net' }));
      assert.equal(await statusOf(cluster, 'ovn-eip', 'booked-other', 'v4Ip'), '10.161.0.3');
      await using(cluster, 'booked-net', 2, '10.161.0.2-10.161.0.3');
      await cluster.delete('ovn-fip', 'booked-fip');
      await using(cluster, 'booked-net', 1, '10.161.0.3');
      await cluster.delete('ovn-eip', 'booked-other');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C37 every kind of holder (Vip, OvnEip, IptablesEIP, reserved IP, pod) keeps its address through kill -9 while pods fill the Subnet; the last pod waits until one goes',
    alone: true,
    run: async (cluster) => {
      const all =
        vpcYaml('kept') +
        subnetYaml('kept-net', {
          vpc: 'kept',
          cidrBlock: '10.162.0.0/28',
          excludeIps: ['10.162.0.10..10.162.0.14'],
          namespaces: ['kept'],
        }) +
        namespaceYaml('kept');
      const holders =
        ['a', 'b', 'c'].map((name) => object('Vip', `kept-${name}`, { subnet: 'kept-net' })).join('') +
        object('OvnEip', 'kept-lrp', { externalSubnet: 'kept-net', type: 'lrp' }) +
        object('IptablesEIP', 'kept-gw', { externalSubnet: 'kept-net', natGwDp: 'nowhere' }) +
        object('IP', 'reserved.kept', { podName: 'reserved', namespace: 'kept', subnet: 'kept-net' });
      await cluster.apply(all + holders);
      const before = [
        ...(await Promise.all(['a', 'b', 'c'].map(async (name) => await statusOf(cluster, 'vip', `kept-${name}`, 'v4ip')))),
        await statusOf(cluster, 'ovn-eip', 'kept-lrp', 'v4Ip'),
        await statusOf(cluster, 'iptables-eip', 'kept-gw', 'ip'),
      ];
      await using(cluster, 'kept-net', 6, '10.162.0.2-10.162.0.7');
      await cluster.controller.kill9();
      await cluster.apply(podYaml('kept', 'one') + podYaml('kept', 'two'));
      await cluster.startController().untilLogged('writing');
      assert.deepEqual([await addressOf(cluster, 'kept', 'one'), await addressOf(cluster, 'kept', 'two')].toSorted(), [
        '10.162.0.8',
        '10.162.0.9',
      ]);
      const after = [
        ...(await Promise.all(['a', 'b', 'c'].map(async (name) => await statusOf(cluster, 'vip', `kept-${name}`, 'v4ip')))),
        await statusOf(cluster, 'ovn-eip', 'kept-lrp', 'v4Ip'),
        await statusOf(cluster, 'iptables-eip', 'kept-gw', 'ip'),
      ];
      assert.deepEqual(after, before);
      await cluster.apply(podYaml('kept', 'late'));
      const { reason } = await condition(cluster, 'pod', 'late', 'kiln.io/NetworkBound', 'False', 'kept');
      assert.equal(reason, 'NoAvailableAddress');
      await using(cluster, 'kept-net', 8, '10.162.0.2-10.162.0.9');
      await cluster.delete('ovn-eip', 'kept-lrp');
      assert.equal(await addressOf(cluster, 'kept', 'late'), before[3]);
      await cluster.removeAll(holders + all);
    },
  },
  {
    name: 'C48 pods, Vips and OvnEips are created and deleted one after the other: after each, counts and ranges of their Subnet agree',
    run: async (cluster) => {
      const all = network('agree', '10.166.0.0/28');
      await cluster.apply(all + podYaml('agree', 'pod'));
      await using(cluster, 'agree-net', 1, '10.166.0.2');
      await cluster.apply(object('Vip', 'agree-vip', { subnet: 'agree-net' }));
      await using(cluster, 'agree-net', 2, '10.166.0.2-10.166.0.3');
      await cluster.apply(object('OvnEip', 'agree-lrp', { externalSubnet: 'agree-net', type: 'lrp' }));
      await using(cluster, 'agree-net', 3, '10.166.0.2-10.166.0.4');
      // As Kube-OVN leaves it: an address in use without a finalizer.
      await cluster.patch('ovn-eip', 'agree-lrp', { metadata: { finalizers: [] } });
      await cluster.delete('vip', 'agree-vip');
      await using(cluster, 'agree-net', 2, '10.166.0.2,10.166.0.4');
      await cluster.delete('ovn-eip', 'agree-lrp');
      await using(cluster, 'agree-net', 1, '10.166.0.2');
      await cluster.delete('pod', 'pod', 'agree');
      await using(cluster, 'agree-net', 0, '');
      assert.equal((await cluster.get('subnet', 'agree-net')).status?.['v4availableIPrange'], '10.166.0.2-10.166.0.14');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C19 an IptablesEIP for a gateway that does not exist is deleted: all addresses that were free before are free again',
    run: async (cluster) => {
      const all = network('nogw', '10.164.0.0/29');
      await cluster.apply(all);
      await using(cluster, 'nogw-net', 0, '');
      await cluster.apply(object('IptablesEIP', 'nogw-eip', { externalSubnet: 'nogw-net', natGwDp: 'nowhere' }));
      await statusOf(cluster, 'iptables-eip', 'nogw-eip', 'ip');
      await using(cluster, 'nogw-net', 1, '10.164.0.2');
      await cluster.delete('iptables-eip', 'nogw-eip');
      await untilDeleted(cluster, 'iptables-eip', 'nogw-eip');
      await using(cluster, 'nogw-net', 0, '');
      assert.equal((await cluster.get('subnet', 'nogw-net')).status?.['v4availableIPrange'], '10.164.0.2-10.164.0.6');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C33 attached interfaces and EIPs of one Subnet come and go in turn: no two ever have one address, and no address remains in use',
    run: async (cluster) => {
      const all =
        namespaceYaml('mixed') +
        vpcYaml('mixed') +
        attachmentYaml('mixed', 'ext', '{"cniVersion":"0.3.0","type":"kube-ovn"}') +
        subnetYaml('mixed-own', { vpc: 'mixed', cidrBlock: '10.165.0.0/24', namespaces: ['mixed'] }) +
        subnetYaml('mixed-ext', { vpc: 'mixed', cidrBlock: '10.165.1.0/28', provider: 'ext.mixed.ovn' });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'mixed-ext', 'Ready', 'True');
      const names = ['a', 'b', 'c', 'd'];
      for (let round = 0; round < 3; round++) {
        await cluster.apply(
          names
            .map(
              (name) =>
                podYaml('mixed', name, { annotations: { [NETWORKS]: 'ext' } }) +
                object('OvnEip', `mixed-${name}`, { externalSubnet: 'mixed-ext' }),
            )
            .join(''),
        );
        const addresses: string[] = [];
        for (const name of names) {
          await running(cluster, 'mixed', name);
          const { annotations = {} } = (await cluster.get('pod', name, 'mixed')).metadata;
          addresses.push(
            annotations['ext.mixed.ovn.kubernetes.io/ip_address'] ?? '',
            await statusOf(cluster, 'ovn-eip', `mixed-${name}`, 'v4Ip'),
          );
        }
        assert.equal(new Set(addresses).size, 8, addresses.join());
        assert.ok(!addresses.includes(''));
        await cluster.deleteAll(names.map((name) => object('OvnEip', `mixed-${name}`, {})).join(''));
        await cluster.kubectl(['delete', 'pods', '--all', '-n', 'mixed', '--wait=false']);
        for (const name of names) {
          await untilDeleted(cluster, 'ip', `${name}.mixed.ext.mixed.ovn`);
          await untilDeleted(cluster, 'ovn-eip', `mixed-${name}`);
        }
      }
      await using(cluster, 'mixed-ext', 0, '');
      await cluster.removeAll(all);
    },
  },
  {
    name: 'pods that declare a Vip may use its address: port security, virtual port and parents; one pod has a Vip as its own address',
    run: async (cluster) => {
      const all = network('pairs', '10.163.0.0/24');
      const declares = { 'ovn.kubernetes.io/aaps': 'pairs-vip', 'ovn.kubernetes.io/port_security': 'true' };
      await cluster.apply(
        all +
          podYaml('pairs', 'a', { annotations: declares }) +
          podYaml('pairs', 'b', { annotations: declares }) +
          podYaml('pairs', 'own', { annotations: { 'ovn.kubernetes.io/vip': 'pairs-own' } }) +
          object('Vip', 'pairs-vip', { subnet: 'pairs-net', namespace: 'pairs', v4ip: '10.163.0.100' }) +
          object('Vip', 'pairs-own', { subnet: 'pairs-net', v4ip: '10.163.0.200' }),
      );
      for (const name of ['a', 'b']) await running(cluster, 'pairs', name);
      assert.equal(await addressOf(cluster, 'pairs', 'own'), '10.163.0.200');
      await cluster.converged();
      const dump = await cluster.dump();
      const a = port(dump, 'a.pairs');
      assert.equal(a['port_security'], `${String(a['addresses'])} 10.163.0.100`);
      const virtual = port(dump, 'pairs-vip');
      assert.equal(virtual['type'], 'virtual');
      assert.deepEqual(virtual['options'], { 'virtual-ip': '10.163.0.100', 'virtual-parents': 'a.pairs,b.pairs' });
      assert.equal((await cluster.get('vip', 'pairs-own')).metadata.labels?.['ovn.kubernetes.io/ip_reserved'], 'own.pairs');
      assert.equal((await cluster.get('subnet', 'pairs-net')).status?.['v4usingIPs'], 4);
      await cluster.removeAll(all + object('Vip', 'pairs-vip', {}) + object('Vip', 'pairs-own', {}));
    },
  },
];
