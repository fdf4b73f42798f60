/** Subnets that change while their addresses are in use: an address family added or removed, a wider or narrower CIDR. */
import assert from 'node:assert/strict';
import { port, rowNamed } from './northbound.ts';
import { addressOf, condition, namespaceYaml, podYaml, deletePod, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export const families: readonly Scenario[] = [
  {
    name: 'single stack to dual stack and back: pods keep their addresses, new pods have both families, then one again',
    run: async (cluster) => {
      const all =
        vpcYaml('stack') +
        subnetYaml('stack-net', { vpc: 'stack', cidrBlock: '10.60.0.0/24', namespaces: ['stack'] }) +
        namespaceYaml('stack');
      await cluster.apply(all + podYaml('stack', 'old'));
      const old = await addressOf(cluster, 'stack', 'old');
      assert.equal(old, '10.60.0.2');
      await cluster.patch('subnet', 'stack-net', { spec: { cidrBlock: '10.60.0.0/24,fd00:60::/112', gateway: '10.60.0.1,fd00:60::1' } });
      await cluster.converged();
      const { spec } = await cluster.get('subnet', 'stack-net');
      assert.deepEqual([spec['protocol'], spec['excludeIps']], ['Dual', ['10.60.0.1', 'fd00:60::1']]);
      assert.deepEqual(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'stack-stack-net')['networks'], [
        '10.60.0.1/24',
        'fd00:60::1/112',
      ]);
      await cluster.apply(podYaml('stack', 'new'));
      assert.equal(await addressOf(cluster, 'stack', 'new'), '10.60.0.3,fd00:60::2');
      assert.equal(await addressOf(cluster, 'stack', 'old'), old, 'a running pod keeps its address');
      assert.match(String(port(await cluster.dump(), 'old.stack')['addresses']), / 10\.60\.0\.2$/);

      await cluster.patch('subnet', 'stack-net', { spec: { cidrBlock: '10.60.0.0/24', gateway: '10.60.0.1', excludeIps: ['10.60.0.1'] } });
      const { reason, message } = await condition(cluster, 'subnet', 'stack-net', 'Accepted', 'False');
      assert.equal(reason, 'CidrInUse');
      assert.match(message, /new\.stack/, 'who holds an address of the family that is to go');
      assert.deepEqual(
        rowNamed(await cluster.dump(), 'Logical_Router_Port', 'stack-stack-net')['networks'],
        ['10.60.0.1/24', 'fd00:60::1/112'],
        'what is in use stays in effect',
      );
      await deletePod(cluster, 'stack', 'new');
      await condition(cluster, 'subnet', 'stack-net', 'Accepted', 'True');
      await cluster.converged();
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'stack-stack-net')['networks'], '10.60.0.1/24');
      assert.equal((await cluster.get('subnet', 'stack-net')).spec['protocol'], 'IPv4');
      await cluster.apply(podYaml('stack', 'later'));
      assert.match(await addressOf(cluster, 'stack', 'later'), /^10\.60\.0\.\d+$/);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'the join Subnet goes to two families and back to one: nodes have an address of each, then the former one, and no object waits for them',
    alone: true,
    run: async (cluster) => {
      const nodes = async (): Promise<readonly string[]> => {
        await cluster.converged();
        const all = await Promise.all(cluster.nodes.map((name) => cluster.get('node', name)));
        return all.map(({ metadata }) => metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '');
      };
      const before = await nodes();
      const { cidrBlock, gateway, excludeIps } = (await cluster.get('subnet', 'join')).spec;
      const both = { cidrBlock: `${String(cidrBlock)},fd00:100:64::/112`, gateway: `${String(gateway)},fd00:100:64::1` };
      await cluster.patch('subnet', 'join', { spec: both });
      assert.deepEqual(
        (await nodes()).map((addresses) => addresses.replace(/,fd00:100:64::\w+$/, ' and another')),
        before.map((address) => `${address} and another`),
      );
      await cluster.patch('subnet', 'join', { spec: { cidrBlock, gateway, excludeIps } });
      await condition(cluster, 'subnet', 'join', 'Accepted', 'True');
      assert.deepEqual(await nodes(), before);
      for (const [at, name] of cluster.nodes.entries()) {
        assert.equal((await cluster.get('ip', `node-${name}`)).spec['ipAddress'], before[at]);
        assert.ok(String(port(await cluster.dump(), `node-${name}`)['addresses']).endsWith(` ${before[at]}`));
      }
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'ovn-cluster-join')['networks'], `${String(gateway)}/16`);
    },
  },
  {
    name: 'C36 a network is widened under pods; a narrowed one is invalid, and the Subnet names the pods outside',
    run: async (cluster) => {
      const all =
        vpcYaml('width') +
        subnetYaml('width-net', { vpc: 'width', cidrBlock: '10.61.0.0/25', namespaces: ['width'] }) +
        namespaceYaml('width');
      await cluster.apply(all + podYaml('width', 'low'));
      const low = await addressOf(cluster, 'width', 'low');
      await cluster.patch('subnet', 'width-net', { spec: { cidrBlock: '10.61.0.0/24' } });
      await cluster.apply(podYaml('width', 'high', { annotations: { 'ovn.kubernetes.io/ip_address': '10.61.0.200' } }));
      assert.equal(await addressOf(cluster, 'width', 'high'), '10.61.0.200');
      await cluster.converged();
      const wide = await cluster.get('subnet', 'width-net');
      assert.deepEqual(
        [wide.status?.['v4usingIPs'], wide.status?.['v4availableIPs'], wide.status?.['v4usingIPrange']],
        [2, 251, `${low},10.61.0.200`],
      );
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'width-width-net')['networks'], '10.61.0.1/24');

      await cluster.patch('subnet', 'width-net', { spec: { cidrBlock: '10.61.0.0/25' } });
      const { message } = await condition(cluster, 'subnet', 'width-net', 'Accepted', 'False');
      assert.match(message, /high\.width/);
      assert.doesNotMatch(message, /low\.width/);
      assert.equal(await addressOf(cluster, 'width', 'high'), '10.61.0.200');
      await cluster.converged();
      const narrow = await cluster.get('subnet', 'width-net');
      assert.deepEqual(
        [narrow.status?.['v4usingIPs'], narrow.status?.['v4availableIPs'], narrow.status?.['v4usingIPrange']],
        [2, 124, `${low},10.61.0.200`],
        'who is outside is in use still, and what is given out is within',
      );
      assert.match(String(port(await cluster.dump(), 'high.width')['addresses']), /10\.61\.0\.200$/);
      await deletePod(cluster, 'width', 'high');
      await condition(cluster, 'subnet', 'width-net', 'Accepted', 'True');
      await cluster.converged();
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'width-width-net')['networks'], '10.61.0.1/25');
      assert.equal(await addressOf(cluster, 'width', 'low'), low);
      await cluster.removeAll(all);
    },
  },
];
