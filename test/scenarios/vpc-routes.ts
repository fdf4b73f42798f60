/** Routes and policies of a custom Vpc that are edited with kubectl while others stay. */
import assert from 'node:assert/strict';
import { children, policiesOf, rowNamed, routesOf, traces } from './northbound.ts';
import { condition, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const networkOf = (vpc: string): string =>
  vpcYaml(vpc) +
  subnetYaml(`${vpc}-a`, { vpc, cidrBlock: '10.30.1.0/24' }) +
  subnetYaml(`${vpc}-b`, { vpc, cidrBlock: '10.30.2.0/24,fd00:30:2::/64', routeTable: 'rtb1' });
const generated = ['main src-ip 10.30.1.0/24 10.30.1.1', 'rtb1 src-ip 10.30.2.0/24 10.30.2.1', 'rtb1 src-ip fd00:30:2::/64 fd00:30:2::1'];
const ofSubnets = ['31000 ip4.dst == 10.30.1.0/24 allow', '31000 ip4.dst == 10.30.2.0/24 allow', '31000 ip6.dst == fd00:30:2::/64 allow'];

export const vpcRoutes: readonly Scenario[] = [
  {
    name: 'static routes: two next hops for one prefix share the traffic, route tables, edited and removed one by one',
    run: async (cluster) => {
      await cluster.apply(networkOf('routed'));
      await cluster.patch('vpc', 'routed', {
        spec: {
          staticRoutes: [
            { cidr: '192.168.0.0/24', nextHopIP: '10.30.1.253', policy: 'policyDst' },
            { cidr: '192.168.0.0/24', nextHopIP: '10.30.1.254', policy: 'policyDst' },
            { cidr: '172.31.0.0/24', nextHopIP: '10.30.1.253', policy: 'policySrc', routeTable: 'rtb1' },
            { cidr: '192.168.9.9', nextHopIP: '10.30.1.253', policy: '' },
          ],
        },
      });
      await cluster.converged();
      const before = await cluster.dump();
      assert.deepEqual(routesOf(before, 'routed'), [
        'main dst-ip 192.168.0.0/24 10.30.1.253',
        'main dst-ip 192.168.0.0/24 10.30.1.254',
        'main dst-ip 192.168.9.9 10.30.1.253',
        // The source route of a Subnet is omitted where it would hide a route of the spec: in the same table, with a prefix that is not
        // longer.
        'rtb1 src-ip 172.31.0.0/24 10.30.1.253',
        'rtb1 src-ip fd00:30:2::/64 fd00:30:2::1',
      ]);
      assert.deepEqual(rowNamed(before, 'Logical_Router_Port', 'routed-routed-b')['options'], { route_table: 'rtb1' });
      const staying = children(before, rowNamed(before, 'Logical_Router', 'routed'), 'static_routes', 'Logical_Router_Static_Route').find(
        ({ nexthop }) => nexthop === '10.30.1.254',
      );
      await cluster.patch('vpc', 'routed', {
        spec: {
          staticRoutes: [
            { cidr: '192.168.0.0/24', nextHopIP: '10.30.1.254', policy: 'policyDst' },
            { cidr: 'fd00:99::/64', nextHopIP: 'fd00:30:2::fe' },
          ],
        },
      });
      await cluster.converged();
      const after = await cluster.dump();
      assert.deepEqual(routesOf(after, 'routed'), [
        'main dst-ip 192.168.0.0/24 10.30.1.254',
        'main dst-ip fd00:99::/64 fd00:30:2::fe',
        ...generated.slice(1),
      ]);
      assert.ok(
        (after.get('Logical_Router_Static_Route') ?? []).some(({ _uuid }) => _uuid === staying?.['_uuid']),
        'a route that stays is the same row',
      );
      assert.equal(((await cluster.get('vpc', 'routed')).spec['staticRoutes'] as { readonly policy: string }[])[1]?.policy, 'policyDst');
      await cluster.kubectl(['patch', 'vpc', 'routed', '--type=json', '-p', '[{"op":"remove","path":"/spec/staticRoutes"}]']);
      await cluster.converged();
      assert.deepEqual(routesOf(await cluster.dump(), 'routed'), generated);
      await cluster.removeAll(networkOf('routed'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'routed'), []);
    },
  },
  {
    name: 'policy routes: allow, drop, reroute to several next hops; an edit changes that policy alone',
    run: async (cluster) => {
      await cluster.apply(networkOf('steered'));
      const policies = (nextHopIP: string): object => ({
        spec: {
          policyRoutes: [
            { priority: 12, match: 'ip4.src == 10.30.1.0/24 && ip4.dst == 10.30.2.0/24', action: 'allow' },
            { priority: 11, match: 'ip4.src == 10.30.1.66', action: 'drop' },
            { priority: 10, match: 'ip4.src == 10.30.1.0/24', action: 'reroute', nextHopIP },
          ],
        },
      });
      await cluster.patch('vpc', 'steered', policies('10.30.1.252,10.30.1.253'));
      await cluster.converged();
      const before = await cluster.dump();
      assert.deepEqual(policiesOf(before, 'steered'), [
        ...ofSubnets,
        '12 ip4.src == 10.30.1.0/24 && ip4.dst == 10.30.2.0/24 allow',
        '11 ip4.src == 10.30.1.66 drop',
        '10 ip4.src == 10.30.1.0/24 reroute 10.30.1.252,10.30.1.253',
      ]);
      await cluster.patch('vpc', 'steered', policies('10.30.1.251'));
      await cluster.converged();
      const after = await cluster.dump();
      assert.deepEqual(policiesOf(after, 'steered').at(-1), '10 ip4.src == 10.30.1.0/24 reroute 10.30.1.251');
      const uuids = (dump: typeof before): readonly string[] =>
        children(dump, rowNamed(dump, 'Logical_Router', 'steered'), 'policies', 'Logical_Router_Policy')
          .map(({ _uuid }) => String(_uuid))
          .toSorted();
      assert.deepEqual(uuids(after), uuids(before));
      await cluster.patch('vpc', 'steered', { spec: { policyRoutes: null } });
      await cluster.converged();
      assert.deepEqual(policiesOf(await cluster.dump(), 'steered'), ofSubnets);
      await cluster.removeAll(networkOf('steered'));
    },
  },
  {
    name: 'a policySrc route that hides a peering is told, and the policy of the message mends it, by ovn-trace',
    run: async (cluster) => {
      const network =
        vpcYaml('near') +
        subnetYaml('near-net', { vpc: 'near', cidrBlock: '10.31.1.0/24', namespaces: ['near'] }) +
        vpcYaml('far') +
        subnetYaml('far-net', { vpc: 'far', cidrBlock: '10.32.0.0/16', namespaces: ['far'] });
      const pods = namespaceYaml('near') + namespaceYaml('far') + podYaml('near', 'web') + podYaml('far', 'db');
      await cluster.apply(network + pods);
      const staticRoutes = [{ cidr: '10.32.0.0/16', nextHopIP: '169.254.31.2' }];
      await cluster.patch('vpc', 'far', {
        spec: {
          vpcPeerings: [{ remoteVpc: 'near', localConnectIP: '169.254.31.2/30' }],
          staticRoutes: [{ cidr: '10.31.1.0/24', nextHopIP: '169.254.31.1' }],
        },
      });
      await cluster.patch('vpc', 'near', {
        spec: { vpcPeerings: [{ remoteVpc: 'far', localConnectIP: '169.254.31.1/30' }], staticRoutes },
      });
      const [web, db] = [await running(cluster, 'near', 'web'), await running(cluster, 'far', 'db')];
      const say = (pod: typeof web, key: string): string => pod.metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
      const traced = async (vpc: string, from: typeof web, to: typeof web): Promise<readonly string[]> => {
        await cluster.converged();
        await cluster.ovn.nbctl('--wait=sb', 'sync');
        const router = String(rowNamed(await cluster.dump(), 'Logical_Router_Port', `${vpc}-${vpc}-net`)['mac']);
        const flow = [
          `inport == "${from.metadata.name}.${vpc}" && eth.src == ${say(from, 'mac_address')} && eth.dst == ${router}`,
          `ip4.src == ${say(from, 'ip_address')} && ip4.dst == ${say(to, 'ip_address')} && ip.ttl == 64 && icmp4.type == 8`,
        ].join(' && ');
        return await cluster.tracedTo(`${vpc}-net`, flow);
      };
      const arrives = async (): Promise<readonly boolean[]> => [
        (await traced('near', web, db)).includes('db.far'),
        (await traced('far', db, web)).includes('web.near'),
      ];
      assert.deepEqual(await arrives(), [true, true]);
      const bySource = { policy: 'policySrc', cidr: '10.31.1.0/24', nextHopIP: '10.31.1.254' };
      await cluster.patch('vpc', 'near', { spec: { staticRoutes: [...staticRoutes, bySource] } });
      const { reason, message } = await condition(cluster, 'vpc', 'near', 'Peered', 'False');
      assert.equal(reason, 'RouteHidden');
      // It takes what web sends first, and what web answers to db.
      assert.deepEqual(await arrives(), [false, true]);
      const [, priority, match, nextHopIP] =
        /\{priority: (\d+), match: "([^"]+)", action: reroute, nextHopIP: "([^"]+)"\}/.exec(message) ?? assert.fail();
      await cluster.patch('vpc', 'near', { spec: { policyRoutes: [{ priority: Number(priority), match, action: 'reroute', nextHopIP }] } });
      await condition(cluster, 'vpc', 'near', 'Peered', 'True');
      assert.deepEqual(await arrives(), [true, true]);
      // A policy of priority 0 is told. No packet takes it, but ovn-trace may: it collides with the last flow of the table.
      const drop = { priority: 0, match: 'ip4.src == 10.31.1.0/24', action: 'drop' };
      await cluster.patch('vpc', 'near', { spec: { staticRoutes, policyRoutes: [drop] } });
      const useless = await condition(cluster, 'vpc', 'near', 'WithoutEffect', 'True');
      assert.equal(useless.reason, 'PolicyPriorityZero');
      assert.match(useless.message, /policyRoutes\[0\]\.priority "0" has no effect/);
      await cluster.patch('vpc', 'near', { spec: { staticRoutes: null, policyRoutes: null, vpcPeerings: null } });
      await cluster.patch('vpc', 'far', { spec: { staticRoutes: null, vpcPeerings: null } });
      await cluster.removeAll(pods + network);
    },
  },
  {
    name: 'an invalid route is reported with field and value, and the other routes are in effect',
    run: async (cluster) => {
      await cluster.apply(networkOf('astray'));
      await cluster.patch('vpc', 'astray', {
        spec: {
          staticRoutes: [
            { cidr: '192.168.0.0/33', nextHopIP: '10.30.1.2' },
            { cidr: '192.168.1.0/24', nextHopIP: '10.30.1.2' },
          ],
        },
      });
      const { message } = await condition(cluster, 'vpc', 'astray', 'Accepted', 'False');
      assert.match(message, /staticRoutes\[0\]/);
      assert.match(message, /192\.168\.0\.0\/33/);
      await cluster.converged();
      assert.deepEqual(routesOf(await cluster.dump(), 'astray'), ['main dst-ip 192.168.1.0/24 10.30.1.2', ...generated.slice(1)]);
      await cluster.patch('vpc', 'astray', { spec: { staticRoutes: [] } });
      await condition(cluster, 'vpc', 'astray', 'Accepted', 'True');
      await cluster.removeAll(networkOf('astray'));
    },
  },
  {
    name: 'a peering whose other end is invalid, and a next hop that no host has: the Vpc reports what ovn-trace shows',
    run: async (cluster) => {
      const side = (one: string, other: string, end: string, nextHopIP: string, cidr: string): string =>
        vpcYaml(`h95-${one}`, {
          vpcPeerings: [{ remoteVpc: `h95-${other}`, localConnectIP: end }],
          staticRoutes: [{ policy: 'policyDst', cidr, nextHopIP }],
        });
      const a = (hop: string): string => side('a', 'b', '169.254.95.1/29', hop, '10.196.0.0/24');
      const b = (end: string): string => side('b', 'a', end, '169.254.95.1', '10.195.0.0/24');
      const rest = ['a', 'b']
        .map(
          (one, i) =>
            subnetYaml(`h95-${one}-net`, { vpc: `h95-${one}`, cidrBlock: `10.${195 + i}.0.0/24`, namespaces: [`h95-${one}`] }) +
            namespaceYaml(`h95-${one}`),
        )
        .join('');
      await cluster.apply(a('169.254.95.2') + b('169.254.95.2') + rest);
      const invalid = await condition(cluster, 'vpc', 'h95-a', 'Peered', 'False');
      assert.equal(invalid.reason, 'VpcPeeringInvalid');
      assert.match(invalid.message, /localConnectIP of Vpc h95-b is invalid, so the other end is left out; kubectl edit vpc h95-b$/);
      await cluster.apply(b('169.254.95.2/29'));
      for (const one of ['a', 'b']) await condition(cluster, 'vpc', `h95-${one}`, 'Peered', 'True');
      const pods = podYaml('h95-a', 'one') + podYaml('h95-b', 'two');
      await cluster.apply(pods);
      const [one, two] = [await running(cluster, 'h95-a', 'one'), await running(cluster, 'h95-b', 'two')];
      const say = ({ metadata }: typeof one, key: string): string => metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
      const router = String(rowNamed(await cluster.dump(), 'Logical_Router_Port', 'h95-a-h95-a-net')['mac']);
      const flow = `inport == "one.h95-a" && eth.src == ${say(one, 'mac_address')} && eth.dst == ${router} && ip4.src == ${say(one, 'ip_address')} && ip4.dst == ${say(two, 'ip_address')} && ip.ttl == 64 && icmp4.type == 8`;
      const arrives = async (hop: string): Promise<readonly string[]> => {
        await cluster.apply(a(hop));
        await cluster.eventually('the route has the next hop', async () => {
          const dump = await cluster.dump();
          const routes = children(dump, rowNamed(dump, 'Logical_Router', 'h95-a'), 'static_routes', 'Logical_Router_Static_Route');
          return routes.length === 1 && routes[0]?.['nexthop'] === hop;
        });
        await cluster.ovn.nbctl('--wait=sb', 'sync');
        return await cluster.tracedTo('h95-a-net', flow);
      };
      for (const [hop, what] of [
        ['169.254.95.1', "is an address of the Vpc's own router"],
        ['169.254.95.5', 'is in the network of the peering with Vpc h95-b, and no end of it has that address'],
        ['10.195.0.1', "is an address of the Vpc's own router"],
      ] as const) {
        // The trace of an ARP request without an answer ends at the pods of the network.
        assert.ok(!(await arrives(hop)).includes('two.h95-b'), hop);
        await cluster.eventually(`${hop} is reported`, async () => {
          const { reason, message } = await condition(cluster, 'vpc', 'h95-a', 'WithoutEffect', 'True');
          return reason === 'NextHopUnanswered' && message.includes(`nextHopIP "${hop}" ${what}; `);
        });
      }
      assert.deepEqual(await arrives('169.254.95.2'), ['two.h95-b']);
      await cluster.eventually('nothing is reported', async () => {
        const { conditions = [] } = (await cluster.get('vpc', 'h95-a')).status as {
          readonly conditions?: readonly { readonly type: string }[];
        };
        return conditions.every(({ type }) => type !== 'WithoutEffect');
      });
      await cluster.removeAll(pods);
      await cluster.removeAll(a('169.254.95.2') + b('169.254.95.2/29') + rest);
    },
  },
];
