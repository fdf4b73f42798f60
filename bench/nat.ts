/**
 * `nat`: what one EIP with a rule costs a controller among few and among 10,000 EIPs with rules, and what is left after a churn of 1,000. The
 * embedded API server, and a real ovsdb-server without northd: translating so many rules is not what is measured.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { makeTemporaryFolder } from '../lab/temporary-folder.ts';
import { LabApiServer } from '../lab/apiserver/server.ts';
import { installCrds } from '../lab/crd-installation.ts';
import { StandInKubelet } from '../lab/kubelet/stand-in-kubelet.ts';
import { OvnLab } from '../lab/ovn/ovn-lab.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from './measured-controller.ts';
import { MeasuredController } from './measured-controller.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';
import { median } from './statistics.ts';

const custom = (kind: string, plural: string): Resource => ({ group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false });
const VPCS = custom('Vpc', 'vpcs');
const SUBNETS = custom('Subnet', 'subnets');
const EIPS = custom('OvnEip', 'ovn-eips');
const RULES = [custom('OvnFip', 'ovn-fips'), custom('OvnSnatRule', 'ovn-snat-rules'), custom('OvnDnatRule', 'ovn-dnat-rules')] as const;
const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const EXTERNAL = 'external';
const WARM_UP = 15;
const CONCURRENCY = 32;
/** Counts follow within the pace of writes to the status of a Subnet. */
const PATIENCE_MS = 30_000;

interface Cost {
  /** Medians of one change. */
  readonly cpuMs: number;
  readonly latencyMs: number;
  /** Means of one change. */
  readonly operations: number;
  readonly runs: number;
  readonly writes: number;
}

export async function nat({ eips: [few, many], changes, churned }: Sizes['nat']): Promise<BenchRow[]> {
  const directory = await makeTemporaryFolder('kiln-bench-nat-');
  const api = new LabApiServer();
  const ovn = new OvnLab({ northd: false });
  await Promise.all([api.start(), ovn.start()]);
  const kubeconfig = join(directory, 'kubeconfig');
  await api.writeKubeconfig(kubeconfig);
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: kubeconfig }), { connections: CONCURRENCY }));
  let controller: MeasuredController | undefined;
  try {
    await installCrds(client, false);
    const kubelet = new StandInKubelet({ client, nodes: 2 });
    await kubelet.start();
    await kubelet.stop();
    controller = await MeasuredController.start(kubeconfig, ovn.nbEndpoint, 'nat');
    const network = new Network(client, ovn, controller);
    await network.make();
    await network.fill(0, few);
    await network.comeAndGo('warm', Math.min(WARM_UP, changes));
    const first = await network.costOf(`few`, changes);
    const filledIn = await network.fill(few, many);
    const last = await network.costOf(`many`, changes);
    const before = await network.state();
    const churnedIn = await network.churn(churned);
    const after = await network.untilState(before);
    return [
      ...[few, many].flatMap((eips, at) => costRows(`${eips} EIPs with rules, one comes and goes`, at === 0 ? first : last)),
      { name: `processor time at ${many} to that at ${few}`, value: last.cpuMs / first.cpuMs, unit: '×', aim: '≤ 1.5' },
      { name: `operations at ${many} to those at ${few}`, value: last.operations / first.operations, unit: '×', aim: '= 1' },
      { name: `runs at ${many} to those at ${few}`, value: last.runs / first.runs, unit: '×', aim: '≤ 1.5' },
      { name: `EIPs with rules made a second, up to ${many}`, value: (many - few) / filledIn, unit: 'EIPs/s' },
      {
        name: `${churned} EIPs churned beside them: made and deleted with their rules a second`,
        value: churned / churnedIn,
        unit: 'EIPs/s',
      },
      { name: `${churned} EIPs churned: addresses that the Subnet counts too many or too few`, value: after.differ, unit: '', aim: '0' },
      { name: `${churned} EIPs churned: rows of NAT and load balancers left`, value: after.rows - before.rows, unit: '', aim: '0' },
    ];
  } finally {
    await controller?.stop();
    await client.close();
    await ovn.stop();
    await api.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function costRows(name: string, { cpuMs, latencyMs, operations, runs, writes }: Cost): readonly BenchRow[] {
  return [
    { name: `${name}: the controller's processor time, p50`, value: cpuMs, unit: 'ms' },
    { name: `${name}: from the creation of the rule to its being ready, p50`, value: latencyMs, unit: 'ms' },
    { name: `${name}: operations sent to OVN`, value: operations, unit: '' },
    { name: `${name}: writes to the API server`, value: writes, unit: '' },
    { name: `${name}: runs of rules and queries`, value: runs, unit: '' },
  ];
}

interface State {
  readonly using: number;
  readonly usingRange: string;
  readonly availableRange: string;
  readonly rows: number;
}

class Network {
  readonly #client: KubeClient;
  readonly #ovn: OvnLab;
  readonly #controller: MeasuredController;

  constructor(client: KubeClient, ovn: OvnLab, controller: MeasuredController) {
    this.#client = client;
    this.#ovn = ovn;
    this.#controller = controller;
  }

  /** A Vpc that is connected to an external Subnet, through two gateway nodes. */
  async make(): Promise<void> {
    for (const name of ['node-1', 'node-2']) {
      const annotations = { 'ovn.kubernetes.io/chassis': `chassis-of-${name}` };
      await this.#client.mergePatch(NODES, { name }, { metadata: { labels: { 'ovn.kubernetes.io/external-gw': 'true' }, annotations } });
    }
    await this.#create(VPCS, 'outside', {});
    await this.#create(SUBNETS, EXTERNAL, { vpc: 'outside', cidrBlock: '172.16.0.0/16' });
    await this.#create(VPCS, 'tenant', { enableExternal: true });
    await this.#create(SUBNETS, 'inside', { vpc: 'tenant', cidrBlock: '10.128.0.0/9' });
    await this.#controller.report('quiet');
  }

  /** @returns seconds that it took */
  async fill(from: number, to: number): Promise<number> {
    const began = performance.now();
    await together(to - from, async (at) => {
      await this.#create(EIPS, `eip-${from + at}`, { externalSubnet: EXTERNAL });
      await this.#createRule(from + at, `eip-${from + at}`);
    });
    await this.#quiet();
    const took = (performance.now() - began) / 1_000;
    for (const resource of RULES) {
      const waiting = (await this.#client.listAll<Statused>(resource)).find(({ status }) => status?.ready !== true);
      if (waiting !== undefined) throw new NotMeasured(`${resource.kind} ${waiting.metadata.name} is not ready`);
    }
    return took;
  }

  async costOf(prefix: string, changes: number): Promise<Cost> {
    const before = await this.#quiet();
    const { latencies, reports } = await this.comeAndGo(prefix, changes);
    const after = await this.#quiet();
    const each = (of: (report: Report) => number): number => (of(after) - of(before)) / changes;
    const spent = [before, ...reports].map(({ cpuMs }) => cpuMs);
    return {
      latencyMs: median(latencies),
      cpuMs: median(reports.map(({ cpuMs }, at) => cpuMs - (spent[at] ?? 0))),
      // Each has the fence of its transactions as well, and how many there are depends on what arrives together.
      operations: each(({ operations }) => operations),
      runs: each(({ status }) => status.ruleRuns),
      writes: each(({ requests }) => requests['write'] ?? 0),
    };
  }

  /** EIPs with a rule, one after another. */
  async comeAndGo(prefix: string, count: number): Promise<{ readonly latencies: readonly number[]; readonly reports: readonly Report[] }> {
    const latencies: number[] = [];
    const reports: Report[] = [];
    for (let at = 0; at < count; at++) {
      const name = `${prefix}-${at}`;
      await this.#create(EIPS, name, { externalSubnet: EXTERNAL });
      await this.#controller.report('quiet');
      const began = performance.now();
      // Above the inner addresses of all others.
      const rule = await this.#createRule(1_000_000 + at, name);
      for (;;) {
        const { status } = await this.#client.get<Statused>(rule, { name: ruleName(1_000_000 + at) });
        if (status?.ready === true) break;
        await sleep(3);
      }
      latencies.push(performance.now() - began);
      await this.#delete(rule, ruleName(1_000_000 + at));
      await this.#delete(EIPS, name);
      reports.push(await this.#controller.report('quiet'));
    }
    return { latencies, reports };
  }

  /** EIPs with rules that come and go beside the others, many at once; the EIP goes first now and then. @returns seconds */
  async churn(count: number): Promise<number> {
    const began = performance.now();
    await together(count, async (at) => {
      const number = 2_000_000 + at;
      const name = `churned-${at}`;
      await this.#create(EIPS, name, { externalSubnet: EXTERNAL });
      const rule = await this.#createRule(number, name);
      if (at % 3 !== 0) await sleep(at % 7 === 0 ? 300 : 20);
      const both = [() => this.#client.delete(rule, { name: ruleName(number) }), () => this.#client.delete(EIPS, { name })];
      for (const one of at % 2 === 0 ? both : both.toReversed()) await one();
    });
    await this.#quiet();
    return (performance.now() - began) / 1_000;
  }

  /** Counts of the external Subnet, and the rows that translate. */
  async state(): Promise<State> {
    const { status = {} } = await this.#client.get<KubeObject & { readonly status?: Readonly<Record<string, unknown>> }>(SUBNETS, {
      name: EXTERNAL,
    });
    let rows = 0;
    for (const table of ['NAT', 'Load_Balancer'])
      rows += (await this.#ovn.nbctl('--bare', '--columns=_uuid', 'list', table)).split('\n').filter((line) => line.trim() !== '').length;
    return {
      using: Number(status['v4usingIPs']),
      usingRange: String(status['v4usingIPrange']),
      availableRange: String(status['v4availableIPrange']),
      rows,
    };
  }

  /** Waits for the state from before, and tells what differs in the end. */
  async untilState(before: State): Promise<State & { readonly differ: number }> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const now = await this.state();
      const ranges = now.usingRange === before.usingRange && now.availableRange === before.availableRange;
      const differ = Math.max(Math.abs(now.using - before.using), ranges ? 0 : 1);
      if ((differ === 0 && now.rows === before.rows) || performance.now() > end) return { ...now, differ };
      await sleep(200);
    }
  }

  async #createRule(number: number, ovnEip: string): Promise<Resource> {
    const resource = RULES[number % RULES.length] as Resource;
    const at = number % 4_000_000;
    const v4Ip = `10.${128 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`;
    const inner = resource.plural === 'ovn-snat-rules' ? { v4IpCidr: `${v4Ip}/32` } : { v4Ip };
    const ports = resource.plural === 'ovn-dnat-rules' ? { protocol: 'tcp', externalPort: '80', internalPort: '8080' } : {};
    await this.#create(resource, ruleName(number), { ovnEip, vpc: 'tenant', ...inner, ...ports });
    return resource;
  }

  async #create(resource: Resource, name: string, spec: object): Promise<void> {
    await this.#client.create<KubeObject>(resource, { metadata: { name }, spec } as KubeObject);
  }

  async #delete(resource: Resource, name: string): Promise<void> {
    await this.#client.delete(resource, { name });
    while ((await this.#client.find(resource, { name })) !== undefined) await sleep(3);
  }

  /** Waits until the last write of a Subnet's status, at most one a second, is done, and no Event is left to send. */
  async #quiet(): Promise<Report> {
    for (;;) {
      await sleep(1_500);
      const report = await this.#controller.report('quiet');
      if (report.status.eventsWaiting === 0) return report;
    }
  }
}

type Statused = KubeObject & { readonly status?: { readonly ready?: boolean } };

function ruleName(number: number): string {
  return `rule-${number}`;
}

/** Does something so many times, some of them at once. */
async function together(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
