/** Histories from the field (docs/evidence/field-histories.md): Subnets, Vpcs and the namespaces that they claim. */
import assert from 'node:assert/strict';
import { withWebhook } from './admission.ts';
import { children, rowNamed, rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, tenantYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const BOUND = 'kiln.io/NetworkBound';
const SWITCH = 'ovn.kubernetes.io/logical_switch';

export const fieldSubnets: readonly Scenario[] = [
  {
    name: 'H16 a pod names a deleted Subnet: a new Subnet of its namespace is ready nevertheless, the pod reports the missing one, and other pods run',
    run: async (cluster) => {
      const all = vpcYaml('h16') + namespaceYaml('h16');
      const old = subnetYaml('h16-old', { vpc: 'h16', cidrBlock: '10.225.0.0/28', namespaces: ['h16'] });
      await cluster.apply(all + old);
      await condition(cluster, 'subnet', 'h16-old', 'Ready', 'True');
      await cluster.kubectl(['delete', 'subnet', 'h16-old', '--timeout=120s']);
      await cluster.apply(podYaml('h16', 'late', { annotations: { [SWITCH]: 'h16-old' } }));
      const { reason, message } = await condition(cluster, 'pod', 'late', BOUND, 'False', 'h16');
      assert.equal(reason, 'WaitingForSubnet');
      assert.match(message, /h16-old/);
      const next = subnetYaml('h16-new', { vpc: 'h16', cidrBlock: '10.225.0.0/28', namespaces: ['h16'] });
      await cluster.apply(next + podYaml('h16', 'web'));
      await condition(cluster, 'subnet', 'h16-new', 'Ready', 'True');
      assert.equal(await addressOf(cluster, 'h16', 'web'), '10.225.0.2');
      await condition(cluster, 'pod', 'late', BOUND, 'False', 'h16');
      await cluster.removeAll(all + next);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h16'), []);
    },
  },
  {
    name: "H17 a namespace's annotation names Subnets that do not exist: Kiln corrects it once, its pods keep their addresses, and no object is written repeatedly",
    run: async (cluster) => {
      const all = tenantYaml('h17', '10.226.0.0/28');
      await cluster.apply(all + podYaml('h17', 'web'));
      const address = await addressOf(cluster, 'h17', 'web');
      await cluster.kubectl(['annotate', 'namespace', 'h17', '--overwrite', `${SWITCH}=h17-gone,h17-net,no-such`]);
      await cluster.eventually(
        'it is put right',
        async () => (await cluster.get('namespace', 'h17')).metadata.annotations?.[SWITCH] === 'h17-net',
      );
      await cluster.apply(podYaml('h17', 'next'));
      await running(cluster, 'h17', 'next');
      await cluster.converged();
      const versions = async (): Promise<readonly string[]> =>
        await Promise.all((['web.h17', 'next.h17'] as const).map(async (name) => (await cluster.get('ip', name)).metadata.resourceVersion));
      const before = [...(await versions()), (await cluster.get('namespace', 'h17')).metadata.resourceVersion];
      await cluster.kubectl(['label', 'pod', 'web', '-n', 'h17', 'look=again']);
      await cluster.converged();
      assert.deepEqual([...(await versions()), (await cluster.get('namespace', 'h17')).metadata.resourceVersion], before);
      assert.equal(await addressOf(cluster, 'h17', 'web'), address);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H18 the Subnet of a namespace is deleted: the annotations of the namespace follow, and its next pod is in the default Subnet',
    run: async (cluster) => {
      const all = vpcYaml('h18') + namespaceYaml('h18');
      const net = subnetYaml('h18-net', { vpc: 'h18', cidrBlock: '10.227.0.0/28', namespaces: ['h18'] });
      const subnetAndCidr = async (): Promise<readonly unknown[]> => {
        const { annotations } = (await cluster.get('namespace', 'h18')).metadata;
        return [annotations?.[SWITCH], annotations?.['ovn.kubernetes.io/cidr']];
      };
      await cluster.apply(all + net);
      await cluster.eventually('the annotation names the Subnet', async () => (await subnetAndCidr())[0] === 'h18-net');
      await cluster.kubectl(['delete', 'subnet', 'h18-net', '--timeout=120s']);
      await cluster.converged();
      const [name, cidr] = await subnetAndCidr();
      assert.equal(name, 'ovn-default');
      assert.match(String(cidr), /^10\.16\.0\.0\/16/);
      await cluster.apply(podYaml('h18', 'web'));
      assert.match(await addressOf(cluster, 'h18', 'web'), /^10\.16\./);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H19 one of two Vpcs loses its peering, then its Vpc is deleted first: no router port is left, the other Vpc reports it and works',
    run: async (cluster) => {
      const side = (one: string, other: string, host: number): string =>
        vpcYaml(`h19-${one}`, { vpcPeerings: [{ remoteVpc: `h19-${other}`, localConnectIP: `169.254.19.${host}/30` }] }) +
        subnetYaml(`h19-${one}-net`, { vpc: `h19-${one}`, cidrBlock: `10.228.${host}.0/28`, namespaces: [`h19-${one}`] }) +
        namespaceYaml(`h19-${one}`);
      const all = side('a', 'b', 1) + side('b', 'a', 2);
      await cluster.apply(all + podYaml('h19-b', 'web'));
      await condition(cluster, 'vpc', 'h19-a', 'Peered', 'True');
      await running(cluster, 'h19-b', 'web');
      await cluster.patch('vpc', 'h19-a', { spec: { vpcPeerings: [] } });
      const { reason } = await condition(cluster, 'vpc', 'h19-b', 'Peered', 'False');
      assert.equal(reason, 'PeerMissing');
      await cluster.converged();
      const dump = await cluster.dump();
      const ports = children(dump, rowNamed(dump, 'Logical_Router', 'h19-a'), 'ports', 'Logical_Router_Port').map(({ name }) => name);
      assert.deepEqual(ports, ['h19-a-h19-a-net']);
      await cluster.deleteAll(side('a', 'b', 1));
      await untilDeleted(cluster, 'vpc', 'h19-a');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'h19-a'), []);
      await running(cluster, 'h19-b', 'web');
      await cluster.removeAll(side('b', 'a', 2));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h19'), []);
    },
  },
  {
    name: 'H73 a Subnet is removed by force under its pod and created under another name with the same network: it is invalid and reports the reason, no address is in use twice, and it works when the pod is gone',
    run: async (cluster) => {
      const net = (name: string): string => subnetYaml(name, { vpc: 'h73', cidrBlock: '10.233.0.0/28', namespaces: ['h73'] });
      const requests = { 'ovn.kubernetes.io/ip_address': '10.233.0.5' };
      const all = vpcYaml('h73') + namespaceYaml('h73');
      await cluster.apply(all + net('h73-old') + podYaml('h73', 'a', { annotations: requests }));
      assert.equal(await addressOf(cluster, 'h73', 'a'), '10.233.0.5');
      await cluster.delete('subnet', 'h73-old');
      await cluster.kubectl(['patch', 'subnet', 'h73-old', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
      await untilDeleted(cluster, 'subnet', 'h73-old');
      await cluster.apply(net('h73-new') + podYaml('h73', 'b', { annotations: requests }));
      const { reason, message } = await condition(cluster, 'subnet', 'h73-new', 'Accepted', 'False');
      assert.equal(reason, 'SubnetCidrOverlap');
      assert.match(message, /of Subnet h73-old, which is gone and has addresses in use/);
      const [, command = ''] = /\(kubectl (.*?)\)/.exec(message) ?? [];
      assert.match(await cluster.kubectl(command.split(' ')), /^a\.h73 /m, 'the command that it names shows who is in it');
      await condition(cluster, 'pod', 'b', BOUND, 'False', 'h73');
      await cluster.converged();
      const routers = (await cluster.rows('Logical_Router_Port')).filter((row) => String(row['name']).startsWith('h73-'));
      assert.deepEqual(
        routers.map(({ name }) => name),
        ['h73-h73-old'],
      );
      await cluster.delete('pod', 'a', 'h73');
      assert.equal(await addressOf(cluster, 'h73', 'b'), '10.233.0.5');
      await condition(cluster, 'subnet', 'h73-new', 'Ready', 'True');
      await cluster.removeAll(all + net('h73-new'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h73'), []);
    },
  },
  {
    name: "H20 a Subnet over the address of a node; pods that name the gateway, the broadcast address and a node's: each reports the conflict, and OVN has no row of them",
    run: async (cluster) => {
      const { status } = await cluster.get('node', cluster.nodes[0] ?? '');
      const addresses = status?.['addresses'] as readonly { readonly type: string; readonly address: string }[] | undefined;
      const address = addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
      const over = subnetYaml('h20-over', { cidrBlock: `${address.replace(/\.\d+$/, '.0')}/24` });
      const all = tenantYaml('h20', '10.229.0.0/28');
      const requests = { gateway: '10.229.0.1', broadcast: '10.229.0.15', node: '100.64.0.2' };
      await cluster.apply(
        over +
          all +
          Object.entries(requests)
            .map(([name, request]) => podYaml('h20', name, { annotations: { 'ovn.kubernetes.io/ip_address': request } }))
            .join(''),
      );
      const accepted = await condition(cluster, 'subnet', 'h20-over', 'Accepted', 'False');
      assert.equal(accepted.reason, 'SubnetHoldsNode');
      assert.ok(accepted.message.includes(address), accepted.message);
      for (const [name, request] of Object.entries(requests)) {
        const { reason, message } = await condition(cluster, 'pod', name, BOUND, 'False', 'h20');
        assert.match(reason, /^Address(Conflict|OutOfRange)$/);
        assert.ok(message.includes(request), message);
      }
      await cluster.converged();
      const dump = await cluster.dump();
      assert.deepEqual([...rowsNamed(dump, 'Logical_Switch', 'h20-over'), ...traces(dump, '.h20')], []);
      await cluster.removeAll(over + all);
    },
  },
  {
    name: 'H21 the join Subnet gets a namespace: it reports that it takes no pods, running pods stay without a report, a new pod reports it; without the namespace all is as before',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(namespaceYaml('h21') + podYaml('h21', 'runs'));
      const address = await addressOf(cluster, 'h21', 'runs');
      await cluster.patch('subnet', 'join', { spec: { namespaces: ['h21'] } });
      const { reason, message } = await condition(cluster, 'subnet', 'join', 'WithoutEffect', 'True');
      assert.equal(reason, 'JoinHasNoPods');
      assert.match(message, /spec\.namespaces "h21"/);
      await cluster.eventually('an Event reports it', async () =>
        (await cluster.events('Subnet', 'join')).some((event) => event.reason === 'JoinHasNoPods'),
      );
      await cluster.kubectl(['annotate', 'namespace', 'h21', 'kiln.io/misbound=evict']);
      await cluster.apply(podYaml('h21', 'new'));
      const waiting = await condition(cluster, 'pod', 'new', BOUND, 'False', 'h21');
      assert.match(waiting.message, /kubectl edit subnet join/);
      const { status } = await cluster.get('pod', 'runs', 'h21');
      assert.notEqual(status?.conditions?.find(({ type }) => type === BOUND)?.reason, 'Misbound');
      await cluster.patch('subnet', 'join', { spec: { namespaces: [] } });
      await running(cluster, 'h21', 'new');
      await cluster.converged();
      assert.equal(
        (await cluster.get('subnet', 'join')).status?.conditions?.some(({ type }) => type === 'WithoutEffect'),
        false,
      );
      assert.equal(await addressOf(cluster, 'h21', 'runs'), address);
      await cluster.removeAll(namespaceYaml('h21'));
    },
  },
  {
    name: 'a Subnet over the address of the API server, and one that lists a namespace its Vpc does not: each reports it by name, pods of that namespace wait, and follow when the Vpc lists it',
    alone: true,
    run: async (cluster) => {
      const address = String((await cluster.get('service', 'kubernetes', 'default')).spec['clusterIP']);
      const over = subnetYaml('over-api', { cidrBlock: `${address.replace(/\d+$/, '0')}/28`, gateway: address.replace(/\d+$/, '9') });
      const vpc = (...namespaces: readonly string[]): string => vpcYaml('listing', { namespaces });
      const lists = subnetYaml('listing-net', { vpc: 'listing', cidrBlock: '10.246.0.0/24', namespaces: ['listing', 'unlisted'] });
      const all = vpc('listing') + lists + namespaceYaml('listing') + namespaceYaml('unlisted');
      await cluster.apply(all + over + podYaml('listing', 'in') + podYaml('unlisted', 'out'));
      const holds = await condition(cluster, 'subnet', 'over-api', 'Accepted', 'False');
      assert.deepEqual(
        [holds.reason, holds.message.includes(`holds ${address}, an address of the API server`)],
        ['SubnetHoldsApiServer', true],
      );
      const listing = await condition(cluster, 'subnet', 'listing-net', 'Accepted', 'False');
      assert.equal(listing.reason, 'SubnetNamespaceNotOfVpc', listing.message);
      assert.match(await addressOf(cluster, 'listing', 'in'), /^10\.246\.0\./);
      const waits = await condition(cluster, 'pod', 'out', 'kiln.io/NetworkBound', 'False', 'unlisted');
      assert.match(waits.message, /"unlisted" is not a namespace of Vpc listing/);
      await withWebhook(cluster, async () => {
        const apply = ['apply', '--validate=false', '-f', '-'];
        assert.match(await cluster.kubectlFails(apply, over.replace('over-api', 'over-two')), /an address of the API server/);
        const second = { vpc: 'listing', cidrBlock: '10.246.1.0/24', namespaces: ['unlisted'] };
        assert.match(await cluster.kubectlFails(apply, subnetYaml('listing-two', second)), /"unlisted" is not a namespace of Vpc listing/);
      });
      await cluster.apply(vpc('listing', 'unlisted'));
      assert.match(await addressOf(cluster, 'unlisted', 'out'), /^10\.246\.0\./);
      await cluster.removeAll(all + over);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'listing', 'over-api'), []);
    },
  },
];
