/** Pods on two nodes talk: real Open vSwitch, ovn-controller, the agent, and the plugin as a program. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type KubeObject, PODS, type Resource } from '../../src/kube/resource.ts';
import { Sandbox } from '../../lab/node/sandbox.ts';
import { until } from '../../src/testing/until.ts';
import { MultusCalls, type Network } from './multus.ts';
import { type AgentNode, OTHER_PLUGINS, PacketCluster, skip } from './packet-cluster.ts';
import { testPodLives } from './pod-lives.ts';

interface ShownLink {
  readonly address: string;
  readonly addr_info: readonly { readonly local: string; readonly scope: string }[];
}

interface LinkStatistics {
  readonly stats64: { readonly rx: { readonly packets: number } };
}

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
interface NodeWithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[] };
}
let cluster: PacketCluster;
before(async () => {
  if (skip === false) cluster = await PacketCluster.start({ dualStack: true });
});
after(async () => {
  if (skip === false) await cluster[Symbol.asyncDispose]();
});

interface Running {
  readonly address: string;
  /** Of both families. */
  readonly addresses: readonly string[];
  readonly sandbox: Sandbox;
}

let containers = 0;
async function run(name: string, node: AgentNode): Promise<Running> {
  const address = await cluster.createPod(name, node);
  containers += 1;
  const sandbox = await Sandbox.create(name, `${containers}`.padStart(2, '0').padEnd(64, 'a'));
  const { exit, output } = await node.cni('ADD', name, sandbox);
  assert.equal(exit, 0, `${output}\n${readFileSync(node.log, 'utf8').slice(-2_000)}`);
  const { ips } = JSON.parse(output) as { readonly ips: readonly { readonly address: string }[] };
  assert.deepEqual(
    ips.map((ip) => ip.address.split('/')[0]),
    address.split(','),
  );
  const addresses = address.split(',');
  return { address: addresses[0] ?? '', addresses, sandbox };
}

/** Addresses with the lengths of their prefixes, and gateways, of a result in the shape of each version of the specification. */
interface AnyResult {
  readonly cniVersion: string;
  readonly ip4?: { readonly ip: string; readonly gateway: string };
  readonly ip6?: { readonly ip: string; readonly gateway: string };
  readonly ips?: readonly { readonly address: string; readonly gateway: string; readonly interface: number }[];
}

test('the plugin called with every version of the specification, and none: ADD, and DEL with another one', { skip }, async () => {
  const [one] = cluster.nodes;
  assert.ok(one);
  const [v4 = '', v6 = ''] = (await cluster.createPod('versions', one)).split(',');
  const gateways = ['10.16.0.1', 'fd00:10:16::1'];
  const versions = [undefined, '', '0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'];
  for (const [at, cniVersion] of versions.entries()) {
    const sandbox = await Sandbox.create(`versions-${at}`, `${at}`.padEnd(64, 'e'));
    const { exit, output } = await one.cni('ADD', 'versions', sandbox, { cniVersion });
    assert.equal(exit, 0, `${cniVersion}: ${output}`);
    const { ip4, ip6, ips, ...rest } = JSON.parse(output) as AnyResult;
    assert.equal(rest.cniVersion, cniVersion || '0.1.0');
    const isOld = at < 4;
    assert.deepEqual([ips === undefined, ip4 !== undefined, ip6 !== undefined], [isOld, isOld, isOld], output);
    const shown = ips?.map(({ address, gateway }) => [address, gateway]) ?? [ip4, ip6].map((one) => [one?.ip, one?.gateway]);
    assert.deepEqual(shown, [
      [`${v4}/16`, gateways[0]],
      [`${v6}/112`, gateways[1]],
    ]);
    assert.ok(await sandbox.reaches('10.16.0.1'), `with version ${cniVersion}`);
    // As a runtime repeats what it has kept, of whoever answered the ADD.
    const other = ['0.3.0', undefined, '9.9.9'][at % 3];
    assert.deepEqual(await one.cni('DEL', 'versions', sandbox, { cniVersion: other }), { exit: 0, output: '' }, `DEL with ${other}`);
    assert.doesNotMatch(await one.node.vswitch.vsctl('list-ports', 'br-int'), new RegExp(sandbox.containerId.slice(0, 12)));
    await sandbox.delete();
  }
  await cluster.deletePod('versions');
});

test('pods of one Subnet on two nodes reach each other, the first packet included', { skip }, async () => {
  const [one, two] = cluster.nodes;
  assert.ok(one && two);
  const web = await run('web', one);
  const db = await run('db', two);
  for (const address of web.addresses) assert.ok(await db.sandbox.reaches(address), `across nodes: ${address}`);
  assert.ok(await web.sandbox.reaches(db.address, { size: 1372 }), 'a packet of the whole MTU');

  const ports = (): Promise<string> => one.node.vswitch.vsctl('list-ports', 'br-int');
  const device = `${web.sandbox.containerId.slice(0, 12)}_h`;
  assert.match(await ports(), new RegExp(`^${device}$`, 'm'));
  assert.equal((await one.cni('CHECK', 'web', web.sandbox)).exit, 0);
  // What another program takes from a pod comes back: the kernel tells the agent of its namespace.
  await web.sandbox.namespace.run('ip', 'address', 'flush', 'dev', 'eth0', 'scope', 'global');
  await until('the addresses are back', async () => (await one.cni('CHECK', 'web', web.sandbox)).exit === 0);
  for (const address of web.addresses) assert.ok(await db.sandbox.reaches(address), `after its loss: ${address}`);

  for (const { node } of cluster.nodes)
    await until(`the chassis of ${node.name} is annotated`, async () => {
      const { metadata } = await cluster.client.get<KubeObject>(NODES, { name: node.name });
      const name = metadata.annotations?.['ovn.kubernetes.io/chassis'] ?? 'none';
      return (await cluster.ovn.sbctl('--bare', '--columns=name', 'find', 'chassis', `name=${name}`)).trim() === name;
    });

  for (const { node } of cluster.nodes)
    await until(`${node.name} is schedulable`, async () => {
      const { status } = await cluster.client.get<NodeWithConditions>(NODES, { name: node.name });
      const found = status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
      return (
        found?.status === 'False' &&
        found.reason === 'JoinSubnetGatewayReachable' &&
        status?.conditions?.some(({ type }) => type === 'Ready')
      );
    });

  // From a node to pods of both nodes and back, and to a host outside, which knows no route to pods.
  await until("the node's interface is up", async () => (await one.node.namespace.run('ip', 'route', 'show')).includes('10.16.0.0/16'));
  for (const address of [...web.addresses, ...db.addresses])
    await one.node.namespace.run('ping', '-n', '-q', '-c', '1', '-w', '30', address);
  const nodes = cluster.nodes.flatMap(({ node }) => [node.address, node.address6 ?? '']);
  for (const address of nodes) assert.ok(await web.sandbox.reaches(address), `pod to ${address}`);
  const outside = await cluster.underlay.addOutsideHost('172.18.0.99/16', 'fd18::99/64');
  for (const address of ['172.18.0.99', 'fd18::99']) assert.ok(await web.sandbox.reaches(address), `to ${address}, translated`);
  for (const address of nodes.slice(0, 2)) assert.match(await outside.run('ip', 'neighbour', 'show'), new RegExp(`^${address} `, 'm'));
  // All rules are flushed by another program: they come back.
  await one.node.namespace.run('nft', 'flush', 'ruleset');
  await until('the rules are back', async () => (await one.node.namespace.run('nft', 'list', 'tables')).includes('inet kiln'));
  assert.ok(await web.sandbox.reaches('172.18.0.99'));
  await outside.delete();

  // The agent is killed and started: that changes nothing, and the interface can be removed after it.
  const before = await one.node.vswitch.vsctl('--columns=_uuid,external_ids', 'list', 'interface');
  await one.killAgent();
  assert.ok(await db.sandbox.reaches(web.address), 'without the agent');
  one.startAgent();
  await until('the agent is ready', async () => (await one.cni('STATUS', 'web', web.sandbox)).exit === 0);
  assert.equal((await one.cni('ADD', 'web', web.sandbox)).exit, 0, 'ADD is idempotent');
  assert.equal(await one.node.vswitch.vsctl('--columns=_uuid,external_ids', 'list', 'interface'), before);
  assert.ok(await db.sandbox.reaches(web.address));

  // A port that another program removed comes back.
  await one.node.vswitch.vsctl('del-port', 'br-int', device);
  await until('the port is back', async () => (await ports()).includes(device));
  assert.ok(await db.sandbox.reaches(web.address));

  // Limits and the mirror are changed while the pod runs, and taken away.
  const annotate = (values: Readonly<Record<string, string | null>>): Promise<unknown> =>
    cluster.client.mergePatch(PODS, { namespace: 'default', name: 'web' }, { metadata: { annotations: values } });
  const shaping = (): Promise<string> => one.node.namespace.run('tc', 'class', 'show', 'dev', device);
  const copied = async (): Promise<number> => {
    const [link] = JSON.parse(await one.node.namespace.run('ip', '-s', '-json', 'link', 'show', 'dev', 'mirror0')) as [LinkStatistics];
    return link.stats64.rx.packets;
  };
  for (const [rate, expected] of [
    ['3', /rate 3Mbit/],
    ['7', /rate 7Mbit/],
  ] as const) {
    await annotate({ 'ovn.kubernetes.io/ingress_rate': rate, 'ovn.kubernetes.io/egress_rate': rate, 'ovn.kubernetes.io/mirror': 'true' });
    await until(`the rate is ${rate}`, async () => expected.test(await shaping()));
    const policed = await one.node.vswitch.vsctl('get', 'interface', device, 'ingress_policing_rate', 'ingress_policing_burst');
    assert.equal(policed.trim(), `${rate}000\n${Number(rate) * 800}`);
  }
  await one.node.namespace.run('tc', 'qdisc', 'delete', 'dev', device, 'root');
  await until('the queue that another program took away is back', async () => /rate 7Mbit/.test(await shaping()), 60_000);
  await until('nothing differs', async () => (await one.agentCommand('status')).exit === 0, 30_000);
  assert.ok(await db.sandbox.reaches(web.address));
  await until('packets of the pod are copied', async () => {
    await db.sandbox.reaches(web.address);
    return (await copied()) > 0;
  });
  await annotate({ 'ovn.kubernetes.io/ingress_rate': null, 'ovn.kubernetes.io/egress_rate': null, 'ovn.kubernetes.io/mirror': null });
  await until('there are no limits', async () => !/rate/.test(await shaping()));
  const rows = async (table: string): Promise<string> => await one.node.vswitch.vsctl('--columns=type,external_ids', 'list', table);
  // ovn-controller has a row of its own, of type linux-noop.
  await until('no row is left', async () => !(await rows('qos')).includes(device));
  assert.equal((await one.node.vswitch.vsctl('get', 'mirror', 'm0', 'select_src_port')).trim(), '[]');

  // Latency is in effect, or it is told that the kernel has no netem.
  await annotate({ 'ovn.kubernetes.io/latency': '1' });
  let said = '';
  await until(
    'latency is in effect, or is told',
    async () => {
      const [link] = JSON.parse(await one.node.namespace.run('ip', '-json', 'link', 'show', 'dev', device)) as [{ readonly qdisc: string }];
      said = (await one.agentCommand('status')).out;
      return link.qdisc === 'netem' || /queue of netem .*modprobe sch_netem/.test(said);
    },
    90_000,
    () => said,
  );
  await annotate({ 'ovn.kubernetes.io/latency': null });
  await until('nothing is told any more', async () => (await one.agentCommand('status')).exit === 0);

  // A pod has taken an address that the controller gives to another one.
  const taken = ['10.16.0.77', 'fd00:10:16::77'];
  for (const address of ['10.16.0.77/16', 'fd00:10:16::77/112'])
    await web.sandbox.namespace.run('ip', 'address', 'add', address, 'dev', 'eth0', ...(address.includes(':') ? ['nodad'] : []));
  await cluster.createPod('late', one, { 'ovn.kubernetes.io/ip_address': taken.join(',') });
  const late = await Sandbox.create('late', 'late'.padEnd(64, 'b'));
  let refused = '';
  // On a loaded machine the holder may answer too late.
  await until('it is refused', async () => {
    const { exit, output } = await one.cni('ADD', 'late', late);
    if (exit === 0) await one.cni('DEL', 'late', late);
    refused = output;
    return exit === 1;
  });
  assert.match(refused, /address \S+ of pod default\/late is in use: .* with MAC address \S+: pod default\/web; kubectl get ips/);
  await until(
    'nothing of it is left',
    async () => !(await ports()).includes('late') && !(await one.node.namespace.run('ip', 'link')).includes('late'),
  );
  for (const address of ['10.16.0.77/16', 'fd00:10:16::77/112'])
    await web.sandbox.namespace.run('ip', 'address', 'delete', address, 'dev', 'eth0');
  assert.equal((await one.cni('ADD', 'late', late)).exit, 0, 'the address is free');
  for (const address of taken) assert.ok(await db.sandbox.reaches(address));
  assert.equal((await one.cni('DEL', 'late', late)).exit, 0);
  await late.delete();

  for (let time = 0; time < 2; time += 1) assert.deepEqual(await one.cni('DEL', 'web', web.sandbox), { exit: 0, output: '' });
  assert.doesNotMatch(await ports(), /_h$/m);
  assert.doesNotMatch(await one.node.namespace.run('ip', 'link', 'show'), new RegExp(device));
  assert.ok(!(await db.sandbox.reaches(web.address, { seconds: 1 })));
  await Promise.all([web.sandbox.delete(), db.sandbox.delete()]);
});

const ATTACHMENTS: Resource = {
  group: 'k8s.cni.cncf.io',
  version: 'v1',
  plural: 'network-attachment-definitions',
  kind: 'NetworkAttachmentDefinition',
  namespaced: true,
};

test(
  'N12: a pod with further networks, as Multus asks for them: one of OVN, and of the plugins bridge and macvlan with addresses of the agent',
  { skip },
  async () => {
    const [one] = cluster.nodes;
    assert.ok(one);
    const networks = {
      fast: { cniVersion: '1.0.0', type: 'kube-ovn', server_socket: one.socket, provider: 'fast.default.ovn' },
      wide: {
        cniVersion: '1.0.0',
        type: 'bridge',
        bridge: 'cni0',
        ipam: { type: 'kube-ovn', server_socket: one.socket, provider: 'wide.default' },
      },
      wire: {
        cniVersion: '1.0.0',
        type: 'macvlan',
        master: 'wire0',
        mode: 'bridge',
        ipam: { type: 'kube-ovn', server_socket: one.socket, provider: 'wire.default' },
      },
    } as const;
    const eth0 = { cniVersion: '1.0.0', name: 'kube-ovn', type: 'kube-ovn', server_socket: one.socket } as const;
    // Without Debian's plugins that of OVN alone.
    const further: readonly Network[] = [
      ['net1', 'fast', networks.fast],
      ...(existsSync(join(OTHER_PLUGINS, 'bridge'))
        ? [['net2', 'wide', networks.wide] as const, ['net3', 'wire', networks.wire] as const]
        : []),
    ];
    await one.node.namespace.run('ip', 'link', 'add', 'wire0', 'type', 'veth', 'peer', 'name', 'wire1');
    for (const end of ['wire0', 'wire1']) await one.node.namespace.run('ip', 'link', 'set', end, 'up');
    for (const [name, config] of Object.entries(networks)) {
      const spec = { config: JSON.stringify(config) };
      await cluster.client.create<KubeObject>(ATTACHMENTS, { metadata: { name, namespace: 'default' }, spec } as KubeObject);
    }
    const subnet = (name: string, provider: string, cidrBlock: string): Promise<void> =>
      cluster.create('Subnet', 'subnets', { metadata: { name }, spec: { provider, cidrBlock, protocol: 'IPv4' } });
    await subnet('fast', 'fast.default.ovn', '10.51.0.0/24');
    await subnet('wide', 'wide.default', '10.52.0.0/24');
    await subnet('wire', 'wire.default', '10.53.0.0/24');
    const routes = '[{"dst":"10.99.0.0/16","gw":"10.51.0.9"}]';
    const pods = await Promise.all(
      ['left', 'right'].map(async (name, index) => {
        await cluster.createPod(name, one, {
          'k8s.v1.cni.cncf.io/networks': 'fast@net1,wide@net2,wire@net3',
          'fast.default.ovn.kubernetes.io/routes': routes,
        });
        const { metadata } = await cluster.client.get<KubeObject>(PODS, { namespace: 'default', name });
        const multus = new MultusCalls(one, { name, uid: metadata.uid ?? '' }, [['eth0', 'kube-ovn', eth0], ...further]);
        return { multus, sandbox: await Sandbox.create(name, `${index}`.padEnd(64, 'd')) };
      }),
    );
    for (const { multus, sandbox } of pods)
      for (const { interface: device, mac, ips } of await multus.add(sandbox)) {
        const [shown] = JSON.parse(await sandbox.namespace.run('ip', '-json', 'address', 'show', 'dev', device)) as readonly ShownLink[];
        const addresses = shown?.addr_info.filter(({ scope }) => scope === 'global').map(({ local }) => local) ?? [];
        assert.deepEqual([mac, ips.toSorted()], [shown?.address, addresses.toSorted()], device);
      }
    const [left, right] = pods;
    assert.ok(left && right);
    const addressOf = async (device: string): Promise<string> => {
      const shown = JSON.parse(await right.sandbox.namespace.run('ip', '-4', '-json', 'address', 'show', 'dev', device)) as [
        { readonly addr_info: readonly [{ readonly local: string }] },
      ];
      return shown[0].addr_info[0].local;
    };
    for (const [device] of further) {
      const address = await addressOf(device);
      assert.ok(address.startsWith(`10.5${device.at(-1)}.0.`), address);
      assert.ok(await left.sandbox.reaches(address), `${device}: ${address}`);
    }
    assert.match(await left.sandbox.namespace.run('ip', 'route'), /^10\.99\.0\.0\/16 via 10\.51\.0\.9 dev net1/m);
    assert.deepEqual((await left.sandbox.namespace.run('ip', 'route')).match(/^default.*dev \w+/gm), ['default via 10.16.0.1 dev eth0']);
    // The namespace of the second one is gone before.
    await left.multus.del(left.sandbox);
    await left.sandbox.delete();
    await right.sandbox.delete();
    await right.multus.del({ containerId: right.sandbox.containerId, namespace: { path: '' } });
    assert.doesNotMatch(await one.node.vswitch.vsctl('list-ports', 'br-int'), /_h$/m);
    await one.node.namespace.run('ip', 'link', 'delete', 'wire0');
  },
);

testPodLives(() => cluster);
