/**
 * `cni`: ADD and DEL of the plugin beside the reference `bridge` plugin in the same run, what an agent with pods costs, and how soon pods of one real
 * node are ready.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../src/kube/resource.ts';
import { OvsdbSession } from '../src/ovsdb/session.ts';
import { VSWITCH_TABLES } from '../src/agent/vswitch/vswitch-target.ts';
import { until } from '../src/testing/until.ts';
import { Sandbox } from '../lab/node/sandbox.ts';
import { makeTemporaryFolder } from '../lab/temporary-folder.ts';
import { type AgentNode, PacketCluster, skip } from '../test/packets/packet-cluster.ts';
import { measuredProgram } from './measured-program.ts';
import { podsPerSecond } from './pods-per-second.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { percentile } from './statistics.ts';

const REFERENCE = '/usr/lib/cni';
/** Pods that are made to stand. */
const AT_ONCE = 10;
const NODES = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false } as const;

interface Times {
  readonly add: number[];
  readonly del: number[];
}

/** A plugin under test. */
interface Plugin {
  readonly name: string;
  /** @throws Error unless it succeeds */
  call(command: 'ADD' | 'DEL', pod: string, sandbox: Sandbox): Promise<void>;
}

export async function cni(sizes: Sizes['cni']): Promise<BenchRow[]> {
  const rows = await calls(sizes);
  rows.push(...(await podsPerSecond(sizes)));
  return rows;
}

async function calls({ alone, together, standing, restSeconds }: Sizes['cni']): Promise<BenchRow[]> {
  if (skip !== false) throw new NotMeasured(skip);
  if (!existsSync(`${REFERENCE}/bridge`)) throw new NotMeasured(`${REFERENCE}/bridge is not there (package containernetworking-plugins)`);
  const load = loadavg()[0] ?? 0;
  await using cluster = await PacketCluster.start({ program: await measuredProgram('kiln') });
  const [node] = cluster.nodes as readonly [AgentNode, AgentNode];
  const plugins = [kiln(node), await bridge(node)];
  const rows: BenchRow[] = [{ name: 'load of the machine before', value: load, unit: 'processes' }];
  let made = 0;
  const run = async (count: number, atOnce: boolean): Promise<void> => {
    const times = plugins.map((): Times => ({ add: [], del: [] }));
    const pods = Array.from({ length: count }, () => `p${made++}`);
    await Promise.all(pods.map((pod) => cluster.createPod(pod, node)));
    const sandboxes = await Promise.all(plugins.map(() => Promise.all(pods.map((pod) => sandboxOf(pod)))));
    for (const [command, verb] of [['ADD', 'add'] as const, ['DEL', 'del'] as const]) {
      const one = async (at: number, pod: number): Promise<void> => {
        const started = performance.now();
        await plugins[at]?.call(command, pods[pod] ?? '', sandboxes[at]?.[pod] as Sandbox);
        times[at]?.[verb].push(performance.now() - started);
      };
      if (atOnce) for (const at of plugins.keys()) await Promise.all(pods.keys().map((pod) => one(at, pod)));
      // In turn, so that what the machine does meanwhile meets both.
      else for (const pod of pods.keys()) for (const at of plugins.keys()) await one(at, pod);
    }
    for (const [at, { name }] of plugins.entries())
      for (const verb of ['add', 'del'] as const)
        for (const share of [50, 99]) {
          const how = atOnce ? `${count} at once` : 'alone';
          rows.push({
            name: `${name}: ${verb.toUpperCase()}, ${how}, p${share}`,
            value: percentile(times[at]?.[verb] ?? [], share),
            unit: 'ms',
          });
        }
    for (const sandbox of sandboxes.flat()) await sandbox.delete();
  };
  await run(alone, false);
  await run(together, true);
  rows.push(...(await atRest(cluster, node, standing, restSeconds)));
  return rows;
}

let containers = 0;
async function sandboxOf(pod: string): Promise<Sandbox> {
  containers += 1;
  // The name of the node's end has the first twelve characters.
  return await Sandbox.create(pod, `${containers}`.padStart(12, '0').padEnd(64, 'd'));
}

function kiln(node: AgentNode): Plugin {
  return {
    name: 'kiln-cni',
    async call(command, pod, sandbox) {
      const { exit, output, errors } = await node.callPlugin(command, pod, sandbox);
      if (exit !== 0) throw new Error(`${command} of ${pod} ended with ${exit}: ${output}${errors}`);
    },
  };
}

/** In the namespace of the node, so that its bridge and addresses are not the host's. */
async function bridge({ node }: AgentNode): Promise<Plugin> {
  const dataDir = await makeTemporaryFolder('kiln-bench-cni-');
  const ipam = { type: 'host-local', dataDir, ranges: [[{ subnet: '10.244.0.0/16' }]], routes: [{ dst: '0.0.0.0/0' }] };
  const configuration = JSON.stringify({ cniVersion: '1.0.0', name: 'reference', type: 'bridge', bridge: 'cni0', isGateway: true, ipam });
  return {
    name: 'bridge and host-local',
    async call(command, pod, { containerId, namespace }) {
      const env = {
        ...{ PATH: process.env['PATH'] ?? '', CNI_COMMAND: command, CNI_CONTAINERID: containerId, CNI_NETNS: namespace.path },
        ...{ CNI_IFNAME: 'eth0', CNI_PATH: REFERENCE },
      };
      const [program, ...args] = node.namespace.command(`${REFERENCE}/bridge`);
      const [exit, output] = await new Promise<readonly [number | null, string]>((resolve, reject) => {
        const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
        let text = '';
        child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
        child.on('error', reject);
        child.on('close', (code) => resolve([code, text]));
        child.stdin.end(configuration);
      });
      if (exit !== 0) throw new Error(`${command} of ${pod} by the bridge plugin: ${output}`);
    },
  };
}

/** What an agent with pods costs while nothing happens, and what it writes when it starts. */
async function atRest(cluster: PacketCluster, node: AgentNode, pods: number, seconds: number): Promise<readonly BenchRow[]> {
  const sandboxes: Sandbox[] = [];
  for (let from = 0; from < pods; from += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, pods - from) }, (_, at) => `s${from + at}`);
    sandboxes.push(...(await Promise.all(names.map(async (name) => (await cluster.runPod(name, node)).sandbox))));
  }
  await node.stopAgent();
  // The kernel gives each device its link-local address, some seconds after the device is up.
  await sleep(5_000);
  const writes = await WriteCount.begin(cluster, node);
  node.startAgent();
  const plugin = kiln(node);
  const first = sandboxes[0] as Sandbox;
  await until('the agent knows its pods again', async () => (await node.cni('CHECK', 's0', first)).exit === 0 || undefined);
  // Each of its lists came once more.
  await sleep(8_000);
  const written = await writes.end();
  const before = usageOf(node);
  await sleep(seconds * 1_000);
  const after = usageOf(node);
  for (const [at, sandbox] of sandboxes.entries()) {
    await plugin.call('DEL', `s${at}`, sandbox);
    await sandbox.delete();
  }
  const name = `an agent with ${pods} pods`;
  return [
    { name: `${name}: resident memory at rest`, value: after.residentMb, unit: 'MB', aim: '< 120' },
    {
      name: `${name}: its own processor time at rest, of one core`,
      value: (after.own - before.own) / seconds / 10,
      unit: '%',
      aim: '< 0.5',
    },
    { name: `${name}: that of the programs that it runs`, value: (after.children - before.children) / seconds / 10, unit: '%' },
    { name: `${name}: changes of links, addresses, routes, tables, rows and the Node by its start`, value: written, unit: '', aim: '= 0' },
  ];
}

/** Milliseconds of processor time since its start. */
function usageOf({ pid }: AgentNode): { readonly own: number; readonly children: number; readonly residentMb: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  // In hundredths of a second.
  return { own: (user + system) * 10, children: (childUser + childSystem) * 10, residentMb: Number(resident) / 1_024 };
}

/** Counts what changes on a node, as programs that are not the agent see it. */
class WriteCount {
  readonly #end: () => Promise<number>;

  private constructor(end: () => Promise<number>) {
    this.#end = end;
  }

  static async begin({ client }: PacketCluster, { node }: AgentNode): Promise<WriteCount> {
    let count = 0;
    const session = new OvsdbSession({ endpoints: [node.vswitch.endpoint], database: 'Open_vSwitch', tables: VSWITCH_TABLES });
    session.start();
    await session.untilSynced();
    session.onChanges((batch) => void (count += batch.length));
    const version = async (): Promise<unknown> => (await client.get<KubeObject>(NODES, { name: node.name })).metadata.annotations;
    const annotations = JSON.stringify(await version());
    const monitors = [
      ['ip', '-o', 'monitor', 'link', 'address', 'route', 'all-nsid'],
      ['nft', 'monitor'],
    ].map(([program = '', ...args]) => {
      const [file, ...rest] = node.namespace.command(program, ...args);
      const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) if (line !== '') process.stderr.write(`the start of the agent changed: ${line}\n`);
        count += text.split('\n').filter((line) => line !== '').length;
      });
      return child;
    });
    await sleep(500);
    return new WriteCount(async () => {
      for (const monitor of monitors) monitor.kill();
      await session.close();
      return count + (JSON.stringify(await version()) === annotations ? 0 : 1);
    });
  }

  async end(): Promise<number> {
    return await this.#end();
  }
}
