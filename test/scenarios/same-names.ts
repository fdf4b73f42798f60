/** One name with a new object, one address with a new holder: what the old one left never takes anything from the new one. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { entries, members } from '../../src/testing/northbound-dump.ts';
import type { NorthboundDump } from '../../src/testing/northbound-dump.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { poolYaml } from './namespaces.ts';
import { port, rowNamed, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, removeByForce, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

const at = (address: string, node?: string): Parameters<typeof podYaml>[2] => ({
  annotations: { 'ovn.kubernetes.io/ip_address': address },
  ...(node !== undefined && { node }),
});

async function clean(cluster: ScenarioCluster, name: string): Promise<void> {
  await cluster.removeAll(network(name, ''));
  await cluster.converged();
  assert.deepEqual(traces(await cluster.dump(), name), []);
}

const portsWith = (dump: NorthboundDump, address: string): readonly unknown[] =>
  (dump.get('Logical_Switch_Port') ?? [])
    .filter(({ addresses }) => members(addresses).some((text) => text.split(' ').includes(address)))
    .map(({ name }) => name);

/** Runs `look` again and again while `run` runs, and returns all results. */
async function observeDuring<T>(look: () => Promise<T>, run: () => Promise<void>): Promise<readonly T[]> {
  const looks: T[] = [];
  const over = new AbortController();
  const watch = (async (): Promise<void> => {
    while (!over.signal.aborted) looks.push(await look());
  })();
  try {
    await run();
  } finally {
    over.abort();
    await watch;
  }
  return looks;
}

export const sameNames: readonly Scenario[] = [
  {
    name: 'two IPPools whose names give one address set: the older has it, the other reports that, and gets it when the older is gone',
    run: async (cluster) => {
      const pool = (name: string, address: string): string =>
        poolYaml(name, { subnet: 'twin-net', ips: [address], enableAddressSet: true });
      const held = async (): Promise<readonly string[]> => members(rowNamed(await cluster.dump(), 'Address_Set', 'twin.pool')['addresses']);
      await cluster.apply(subnetYaml('twin-net', { cidrBlock: '10.179.0.0/24' }) + pool('twin-pool', '10.179.0.5'));
      await condition(cluster, 'ippool', 'twin-pool', 'Ready', 'True');
      await cluster.apply(pool('twin.pool', '10.179.0.6'));
      const { reason, message } = await condition(cluster, 'ippool', 'twin.pool', 'Ready', 'False');
      assert.equal(reason, 'RowConflict');
      assert.match(
        message,
        /^Address_Set twin\.pool belongs to the older ippool twin-pool, .* again under another name; kiln explain ippool twin-pool/,
      );
      assert.deepEqual(await held(), ['10.179.0.5']);
      await cluster.delete('ippool', 'twin-pool');
      await condition(cluster, 'ippool', 'twin.pool', 'Ready', 'True');
      await cluster.converged();
      assert.deepEqual(await held(), ['10.179.0.6']);
      await cluster.removeAll(pool('twin.pool', '10.179.0.6') + subnetYaml('twin-net', {}));
    },
  },
  {
    name: 'C42 leftovers of a pod are collected while another pod of its name, on another node with another address, keeps its own through every start',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(network('c42', '10.183.0.0/24') + podYaml('c42', 'pod', at('10.183.0.20', 'node-1')));
      await running(cluster, 'c42', 'pod');
      await cluster.converged();
      await cluster.controller.kill9();
      await cluster.kubectl(['delete', 'pod', 'pod', '-n', 'c42', '--force', '--grace-period=0']);
      await cluster.apply(podYaml('c42', 'pod', at('10.183.0.30', 'node-2')));
      const { uid } = (await cluster.get('pod', 'pod', 'c42')).metadata;
      for (let start = 0; start < 2; start++) {
        cluster.startController();
        assert.equal(await addressOf(cluster, 'c42', 'pod'), '10.183.0.30');
        await cluster.converged();
        const dump = await cluster.dump();
        assert.deepEqual([portsWith(dump, '10.183.0.20'), portsWith(dump, '10.183.0.30')], [[], ['pod.c42']]);
        assert.equal(entries(port(dump, 'pod.c42')['external_ids'])['kiln.io/uid'], uid);
        const ip = await cluster.get('ip', 'pod.c42');
        assert.deepEqual([ip.spec['ipAddress'], ip.metadata.annotations?.['kiln.io/pod-uid']], ['10.183.0.30', uid]);
        assert.equal((await cluster.get('subnet', 'c42-net')).status?.['v4usingIPrange'], '10.183.0.30');
        await cluster.controller.kill9();
      }
      cluster.startController();
      await clean(cluster, 'c42');
    },
  },
  {
    name: 'C44 a pod requests an address while its holder goes, with kill -9 between: never on two ports, and never taken from its holder',
    alone: true,
    run: async (cluster) => {
      const address = '10.184.0.9';
      await cluster.apply(network('c44', '10.184.0.0/24'));
      await condition(cluster, 'subnet', 'c44-net', 'Ready', 'True');
      await cluster.apply(podYaml('c44', 'pod-0', at(address)));
      await running(cluster, 'c44', 'pod-0');
      const look = async (): Promise<number> => portsWith(await cluster.dump(), address).length;
      const most = await observeDuring(look, async () => {
        for (let round = 1; round <= 4; round++) {
          const going = cluster.delete('pod', `pod-${round - 1}`, 'c44');
          await cluster.apply(podYaml('c44', `pod-${round}`, at(address)));
          await sleep(round * 40);
          if (round % 2 === 0) {
            await cluster.controller.kill9();
            cluster.startController();
          }
          await going;
          await running(cluster, 'c44', `pod-${round}`);
        }
      });
      assert.deepEqual(
        [...new Set(most)].filter((count) => count > 1),
        [],
        `${most.length} looks`,
      );
      await cluster.converged();
      assert.deepEqual(portsWith(await cluster.dump(), address), ['pod-4.c44']);
      assert.equal((await cluster.get('subnet', 'c44-net')).status?.['v4usingIPrange'], address);
      await clean(cluster, 'c44');
    },
  },
  {
    name: "C46 a pod recreated under its name on another node while the leader changes: its port is the new one's, and the old leader takes nothing back",
    alone: true,
    run: async (cluster) => {
      const first = await cluster.ensureController();
      await first.untilLogged('writing');
      await cluster.apply(network('c46', '10.185.0.0/24') + podYaml('c46', 'db-0', { node: 'node-1' }));
      const before = (await running(cluster, 'c46', 'db-0')).metadata.uid;
      await cluster.converged();
      await first.pause();
      await cluster.kubectl(['replace', '--force', '--validate=false', '-f', '-'], podYaml('c46', 'db-0', { node: 'node-2' }));
      await cluster.startController().untilLogged('writing');
      const pod = await cluster.eventually('the new pod runs', async () => {
        const found = await running(cluster, 'c46', 'db-0');
        return found.metadata.uid !== before ? found : undefined;
      });
      const checkNewPod = async (): Promise<void> => {
        await cluster.converged();
        const dump = await cluster.dump();
        const row = port(dump, 'db-0.c46');
        const address = pod.metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '';
        assert.equal(entries(row['external_ids'])['kiln.io/uid'], pod.metadata.uid);
        assert.deepEqual(portsWith(dump, address), ['db-0.c46']);
        assert.equal((await cluster.get('subnet', 'c46-net')).status?.['v4usingIPs'], 1);
        assert.equal((await cluster.get('ip', 'db-0.c46')).spec['nodeName'], 'node-2');
      };
      await checkNewPod();
      await first.resume();
      await first.untilLogged('no longer leading');
      await checkNewPod();
      await clean(cluster, 'c46');
    },
  },
  {
    name: 'C88 no port group and no address set loses a member at a start if the member exists before and after',
    alone: true,
    run: async (cluster) => {
      const pool = poolYaml('c88-pool', { subnet: 'c88-net', ips: ['10.186.0.50..10.186.0.59'], enableAddressSet: true });
      await cluster.apply(subnetYaml('c88-net', { cidrBlock: '10.186.0.0/24', namespaces: ['c88'] }) + namespaceYaml('c88') + pool);
      const request = { annotations: { 'ovn.kubernetes.io/ip_pool': 'c88-pool' } };
      await cluster.apply(['stays', 'goes'].map((name) => podYaml('c88', name, request)).join(''));
      for (const name of ['stays', 'goes']) await running(cluster, 'c88', name);
      await cluster.converged();
      const sets = async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
        const dump = await cluster.dump();
        const columns = [
          ...(dump.get('Port_Group') ?? []).map((row) => [row, row['ports']] as const),
          ...(dump.get('Address_Set') ?? []).map((row) => [row, row['addresses']] as const),
        ];
        return new Map(columns.map(([row, column]) => [String(row['name']), new Set(members(column))]));
      };
      await cluster.controller.kill9();
      const before = await sets();
      assert.ok([...before.values()].some((some) => some.size > 0));
      await cluster.delete('pod', 'goes', 'c88');
      await untilDeleted(cluster, 'pod', 'goes', 'c88');
      await cluster.apply(podYaml('c88', 'comes', request));
      const looks = await observeDuring(sets, async () => {
        cluster.startController();
        await running(cluster, 'c88', 'comes');
        await cluster.converged();
      });
      const after = await sets();
      const kept = [...before].flatMap(([name, some]) =>
        [...some].filter((member) => after.get(name)?.has(member)).map((member) => [name, member] as const),
      );
      assert.ok(kept.length > 0);
      for (const [name, member] of kept)
        assert.ok(
          looks.every((look) => look.get(name)?.has(member)),
          `${name} was without ${member}, in one of ${looks.length} looks`,
        );
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Switch_Port', 'stays.c88')['name'], 'stays.c88');
      await cluster.removeAll(pool + subnetYaml('c88-net', {}) + namespaceYaml('c88'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c88'), []);
    },
  },
  {
    name: 'a Subnet and a Vpc removed by force and recreated with an invalid spec leave running pods switch, ports and router',
    alone: true,
    run: async (cluster) => {
      const pods = podYaml('left', 'one') + podYaml('left', 'two');
      await cluster.apply(network('left', '10.184.0.0/24') + subnetYaml('left-by', { vpc: 'left', cidrBlock: '10.185.0.0/24' }) + pods);
      const [one, two] = [await running(cluster, 'left', 'one'), await running(cluster, 'left', 'two')].map(
        ({ metadata }) => metadata.annotations,
      );
      const annotation = (of: typeof one, suffix: string): string => of?.[`ovn.kubernetes.io/${suffix}`] ?? '';
      const flow =
        `inport == "one.left" && eth.src == ${annotation(one, 'mac_address')} && eth.dst == ${annotation(two, 'mac_address')} && ip.ttl == 64 && ` +
        `ip4.src == ${annotation(one, 'ip_address')} && ip4.dst == ${annotation(two, 'ip_address')}`;
      await cluster.converged();
      const rows = async (): Promise<readonly unknown[]> => {
        const dump = await cluster.dump();
        return [rowNamed(dump, 'Logical_Switch', 'left-net'), port(dump, 'one.left'), port(dump, 'two.left')].map((row) => row['_uuid']);
      };
      const before = await rows();
      const stillThere = async (): Promise<void> => {
        await cluster.converged();
        assert.deepEqual(await rows(), before);
        assert.deepEqual(await cluster.tracedTo('left-net', flow), ['two.left']);
      };
      for (const spec of [
        { cidrBlock: 'nonsense' },
        { cidrBlock: '10.185.0.0/25' },
        { cidrBlock: '10.184.0.0/24', provider: 'lan.left' },
      ]) {
        await removeByForce(cluster, 'subnet', 'left-net');
        await cluster.apply(subnetYaml('left-net', { vpc: 'left', ...spec }));
        await stillThere();
      }
      await cluster.patch('subnet', 'left-net', { metadata: { finalizers: [] } });
      await removeByForce(cluster, 'subnet', 'left-net');
      await cluster.apply(subnetYaml('left-net', { vpc: 'left', cidrBlock: '10.184.0.0/24', namespaces: ['left'] }));
      await cluster.converged();
      await removeByForce(cluster, 'vpc', 'left');
      await cluster.apply(subnetYaml('left', { cidrBlock: '10.186.0.0/24' }));
      await cluster.converged();
      // If a Vpc and a Subnet are created within the same second, the Vpc gets the name.
      await sleep(1_100);
      await cluster.apply(vpcYaml('left'));
      await condition(cluster, 'vpc', 'left', 'Accepted', 'False');
      await cluster.converged();
      assert.deepEqual(await rows(), before);
      assert.equal(rowNamed(await cluster.dump(), 'Logical_Router', 'left')['name'], 'left');
      await cluster.removeAll(
        network('left', '') +
          subnetYaml('left-by', { vpc: 'left', cidrBlock: '10.185.0.0/24' }) +
          subnetYaml('left', { cidrBlock: '10.186.0.0/24' }),
      );
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'left'), []);
    },
  },
];
