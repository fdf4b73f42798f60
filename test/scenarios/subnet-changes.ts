/** A Subnet edited in place: its gateway, its Vpc, its size. */
import assert from 'node:assert/strict';
import { members } from '../../src/testing/northbound-dump.ts';
import { children, port, rowNamed, rowsNamed, routesOf, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, deletePod, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export const subnetChanges: readonly Scenario[] = [
  {
    name: 'the gateway is changed under running pods: it stays and the Subnet names them, until they are gone or an annotation allows it; no pod gets the new gateway',
    run: async (cluster) => {
      const all =
        vpcYaml('gwmove') +
        subnetYaml('gwmove-net', { vpc: 'gwmove', cidrBlock: '10.150.0.0/24', namespaces: ['gwmove'] }) +
        namespaceYaml('gwmove');
      await cluster.apply(all + podYaml('gwmove', 'a'));
      let address = await addressOf(cluster, 'gwmove', 'a');
      await cluster.converged();
      const { _uuid } = rowNamed(await cluster.dump(), 'Logical_Router_Port', 'gwmove-gwmove-net');
      const gatewayOf = async (name: string): Promise<string | undefined> =>
        (await running(cluster, 'gwmove', name)).metadata.annotations?.['ovn.kubernetes.io/gateway'];
      await cluster.patch('subnet', 'gwmove-net', { spec: { gateway: '10.150.0.9' } });
      const { reason, message } = await condition(cluster, 'subnet', 'gwmove-net', 'Accepted', 'False');
      assert.equal(reason, 'SubnetGatewayInUse');
      assert.match(message, /would cut off what has routes through 10\.150\.0\.1, .*: Pod gwmove\/a; put 10\.150\.0\.1 back/);
      await cluster.apply(podYaml('gwmove', 'early'));
      await cluster.converged();
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'gwmove-gwmove-net')['networks'], '10.150.0.1/24');
      assert.deepEqual([await gatewayOf('a'), await gatewayOf('early')], ['10.150.0.1', '10.150.0.1']);
      await deletePod(cluster, 'gwmove', 'early');
      await deletePod(cluster, 'gwmove', 'a');
      await condition(cluster, 'subnet', 'gwmove-net', 'Accepted', 'True');
      await cluster.converged();
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'gwmove-gwmove-net')['networks'], '10.150.0.9/24');

      await cluster.apply(podYaml('gwmove', 'a'));
      address = await addressOf(cluster, 'gwmove', 'a');
      await cluster.patch('subnet', 'gwmove-net', { spec: { gateway: '10.150.0.254' } });
      const allow = (await condition(cluster, 'subnet', 'gwmove-net', 'Accepted', 'False')).message;
      await cluster.kubectl((/kubectl (annotate \S+ \S+ \S+)/.exec(allow)?.[1] ?? '').split(' '));
      await condition(cluster, 'subnet', 'gwmove-net', 'Accepted', 'True');
      await cluster.converged();
      const dump = await cluster.dump();
      const link = rowNamed(dump, 'Logical_Router_Port', 'gwmove-gwmove-net');
      assert.deepEqual([link['_uuid'], link['networks']], [_uuid, '10.150.0.254/24']);
      assert.deepEqual(routesOf(dump, 'gwmove'), ['main src-ip 10.150.0.0/24 10.150.0.254']);
      assert.ok(((await cluster.get('subnet', 'gwmove-net')).spec['excludeIps'] as readonly string[]).includes('10.150.0.254'));
      await cluster.apply(podYaml('gwmove', 'b'));
      assert.deepEqual([await gatewayOf('a'), await gatewayOf('b')], ['10.150.0.254', '10.150.0.254']);
      assert.equal(await addressOf(cluster, 'gwmove', 'a'), address);
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'gwmove'), []);
    },
  },
  {
    name: 'the address of a running pod is named as the gateway: no router port takes it, the Subnet names the pod, and follows when the pod is gone',
    run: async (cluster) => {
      const all =
        vpcYaml('gwtaken') +
        subnetYaml('gwtaken-net', { vpc: 'gwtaken', cidrBlock: '10.251.0.0/28', namespaces: ['gwtaken'] }) +
        namespaceYaml('gwtaken');
      await cluster.apply(all + podYaml('gwtaken', 'a'));
      const address = await addressOf(cluster, 'gwtaken', 'a');
      await cluster.converged();
      await cluster.patch('subnet', 'gwtaken-net', { spec: { gateway: address } });
      const { reason, message } = await condition(cluster, 'subnet', 'gwtaken-net', 'Accepted', 'False');
      assert.equal(reason, 'SubnetGatewayInUse');
      assert.ok(message.includes(`spec.gateway "${address}" is in use`) && message.includes('IP a.gwtaken'), message);
      await cluster.converged();
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'gwtaken-gwtaken-net')['networks'], '10.251.0.1/28');
      assert.equal(await addressOf(cluster, 'gwtaken', 'a'), address);
      await deletePod(cluster, 'gwtaken', 'a');
      await condition(cluster, 'subnet', 'gwtaken-net', 'Accepted', 'True');
      await cluster.converged();
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'gwtaken-gwtaken-net')['networks'], `${address}/28`);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a Subnet cannot change its Vpc: its network stays, it reports the field, and it blocks the Vpc it is in',
    run: async (cluster) => {
      const all = vpcYaml('from') + vpcYaml('to') + subnetYaml('moved-net', { vpc: 'from', cidrBlock: '10.151.0.0/24' });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'moved-net', 'Ready', 'True');
      await cluster.converged();
      const links = (dump: Awaited<ReturnType<typeof cluster.dump>>, router: string): readonly unknown[] =>
        children(dump, rowNamed(dump, 'Logical_Router', router), 'ports', 'Logical_Router_Port').map(({ _uuid }) => _uuid);
      const before = links(await cluster.dump(), 'from');
      await cluster.patch('subnet', 'moved-net', { spec: { vpc: 'to' } });
      const { message } = await condition(cluster, 'subnet', 'moved-net', 'Accepted', 'False');
      assert.match(message ?? '', /is in Vpc from, and a Subnet does not move; set it back to from/);
      await cluster.converged();
      const dump = await cluster.dump();
      assert.deepEqual([links(dump, 'from'), links(dump, 'to')], [before, []]);
      assert.deepEqual((await cluster.get('vpc', 'from')).status?.['subnets'], ['moved-net']);
      assert.deepEqual((await cluster.get('vpc', 'to')).status?.['subnets'], []);
      await cluster.kubectl(['delete', 'vpc', 'from', '--wait=false']);
      const blocked = await condition(cluster, 'vpc', 'from', 'DeletionBlocked', 'True');
      assert.match(blocked.message ?? '', /Subnet moved-net/);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'pods wait for a full Subnet, and each address that is freed goes to one of them; a /30 and a /31 behave alike',
    run: async (cluster) => {
      const all =
        vpcYaml('full') +
        subnetYaml('full-30', { vpc: 'full', cidrBlock: '10.152.0.0/30', namespaces: ['full-30'] }) +
        subnetYaml('full-31', { vpc: 'full', cidrBlock: '10.152.1.0/31', namespaces: ['full-31'] }) +
        namespaceYaml('full-30') +
        namespaceYaml('full-31');
      await cluster.apply(all);
      for (const [namespace, address] of [
        ['full-30', '10.152.0.2'],
        ['full-31', '10.152.1.1'],
      ] as const) {
        await cluster.apply(podYaml(namespace, 'a'));
        assert.equal(await addressOf(cluster, namespace, 'a'), address);
        await cluster.apply(podYaml(namespace, 'b') + podYaml(namespace, 'c'));
        const { reason, message } = await condition(cluster, 'pod', 'b', 'kiln.io/NetworkBound', 'False', namespace);
        assert.equal(reason, 'NoAvailableAddress');
        assert.match(message, new RegExp(namespace));
        await condition(cluster, 'pod', 'c', 'kiln.io/NetworkBound', 'False', namespace);
        await deletePod(cluster, namespace, 'a');
        const next = await cluster.eventually('one of them runs', async () =>
          (await Promise.all(['b', 'c'].map((name) => cluster.get('pod', name, namespace)))).find(
            ({ status }) => status?.['phase'] === 'Running',
          ),
        );
        assert.equal(next.metadata.name, 'b', 'the one that waits longest');
        assert.equal(next.status?.['podIP'], address);
      }
      await cluster.converged();
      const { status } = await cluster.get('subnet', 'full-31');
      assert.deepEqual([status?.['v4availableIPs'], status?.['v4usingIPs'], status?.['v4availableIPrange']], [0, 1, '']);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'C30 a node that comes and goes leaves no port, port groups, policies or IP object',
    alone: true,
    run: async (cluster) => {
      const node = `---
apiVersion: v1
kind: Node
metadata: {name: brief}
`;
      await cluster.apply(node);
      await cluster.kubectl(
        ['replace', '--raw', '/api/v1/nodes/brief/status', '-f', '-'],
        JSON.stringify({
          ...(JSON.parse(await cluster.kubectl(['get', 'node', 'brief', '-o', 'json'])) as object),
          status: { addresses: [{ type: 'InternalIP', address: '172.18.9.9' }], conditions: [{ type: 'Ready', status: 'True' }] },
        }),
      );
      await cluster.eventually(
        'it is joined',
        async () => (await cluster.get('node', 'brief')).metadata.annotations?.['ovn.kubernetes.io/allocated'] === 'true',
      );
      await cluster.converged();
      const dump = await cluster.dump();
      assert.equal(rowsNamed(dump, 'Logical_Switch_Port', 'node-brief').length, 1);
      assert.equal(rowsNamed(dump, 'Port_Group', 'ovn.default.brief').length, 1);
      assert.ok((dump.get('Logical_Router_Policy') ?? []).some(({ match }) => match === 'ip4.dst == 172.18.9.9'));
      await cluster.kubectl(['delete', 'node', 'brief', '--wait=false']);
      await untilDeleted(cluster, 'ip', 'node-brief');
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'brief', '172.18.9.9'), []);
    },
  },
  {
    name: "a pod's port security, virtual addresses and security groups are on its port; a host-network pod has none",
    run: async (cluster) => {
      const key = (name: string): string => `ovn.kubernetes.io/${name}`;
      await cluster.apply(
        podYaml('default', 'secured', {
          annotations: { [key('port_security')]: 'true', [key('port_vips')]: '10.16.200.1', [key('security_groups')]: 'sg-a,sg-b' },
        }) + podYaml('default', 'host').replace('spec:\n', 'spec:\n  hostNetwork: true\n'),
      );
      const { metadata } = await running(cluster, 'default', 'secured');
      await cluster.converged();
      const dump = await cluster.dump();
      const row = port(dump, 'secured.default');
      const station = String(row['addresses']);
      assert.equal(row['port_security'], `${station} 10.16.200.1`);
      const keys = row['external_ids'] as Readonly<Record<string, string>>;
      assert.deepEqual(
        [keys['vips'], keys['attach-vips'], keys['security_groups'], keys['associated_sg_sg-a'], keys['associated_sg_sg-b']],
        ['10.16.200.1', 'true', 'sg-a/sg-b', 'true', 'true'],
      );
      assert.match(station, new RegExp(metadata.annotations?.[key('ip_address')] ?? 'none'));
      assert.deepEqual(rowsNamed(dump, 'Logical_Switch_Port', 'host.default'), []);
      assert.equal((await cluster.get('pod', 'host', 'default')).metadata.annotations?.[key('allocated')], undefined);
      await cluster.kubectl(['annotate', 'pod', 'secured', '-n', 'default', `${key('port_security')}-`]);
      await cluster.eventually(
        'port security is off',
        async () => members(port(await cluster.dump(), 'secured.default')['port_security']).length === 0,
      );
      await deletePod(cluster, 'default', 'secured');
      await cluster.delete('pod', 'host', 'default');
      await untilDeleted(cluster, 'pod', 'host', 'default');
    },
  },
  {
    name: 'an address that a user reserves with an IP object stays free until a pod of that name comes, and after it goes',
    run: async (cluster) => {
      const all =
        vpcYaml('kept') + subnetYaml('kept-net', { vpc: 'kept', cidrBlock: '10.153.0.0/29', namespaces: ['kept'] }) + namespaceYaml('kept');
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'kept-net', 'Ready', 'True');
      await cluster.apply(`---
apiVersion: kubeovn.io/v1
kind: IP
metadata: {name: mine.kept}
spec: {podName: mine, namespace: kept, subnet: kept-net, v4IpAddress: 10.153.0.2, ipAddress: 10.153.0.2, v6IpAddress: "", macAddress: "", nodeName: "", containerID: "", podType: "", attachIps: [], attachMacs: [], attachSubnets: []}
`);
      await cluster.eventually(
        'it is reserved',
        async () => (await cluster.get('ip', 'mine.kept')).metadata.labels?.['ovn.kubernetes.io/ip_reserved'] === 'true',
      );
      await cluster.converged();
      assert.equal((await cluster.get('subnet', 'kept-net')).status?.['v4usingIPrange'], '10.153.0.2');
      await cluster.apply(podYaml('kept', 'other'));
      assert.equal(await addressOf(cluster, 'kept', 'other'), '10.153.0.3');
      await cluster.apply(podYaml('kept', 'mine'));
      assert.equal(await addressOf(cluster, 'kept', 'mine'), '10.153.0.2');
      await cluster.delete('pod', 'mine', 'kept');
      await untilDeleted(cluster, 'pod', 'mine', 'kept');
      await cluster.converged();
      assert.notEqual(await cluster.find('ip', 'mine.kept'), undefined);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'mine.kept'), []);
      await cluster.delete('ip', 'mine.kept');
      await untilDeleted(cluster, 'ip', 'mine.kept');
      await cluster.removeAll(all);
    },
  },
];
