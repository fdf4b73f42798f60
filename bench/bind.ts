/**
 * `bind`: a fresh controller binds pods that exist before the clock starts, on a real kube-apiserver and a real OVN. Beside it the API
 * server's own limit for the same number and kind of writes, measured in the same run.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Controller } from '../src/controller/controller.ts';
import { northboundSession } from '../src/cli/connection/connect.ts';
import { makeController } from '../src/cli/connection/make-controller.ts';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import type { KubeObject } from '../src/kube/resource.ts';
import { PODS } from '../src/kube/resource.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { installCrds } from '../lab/crd-installation.ts';
import { StandInKubelet } from '../lab/kubelet/stand-in-kubelet.ts';
import { OvnLab } from '../lab/ovn/ovn-lab.ts';
import { RealCluster } from '../lab/real-cluster/real-cluster.ts';
import { SILENT } from '../src/runtime/log.ts';
import { annotationKey } from '../src/api/well-known.ts';
import { traitsOf } from '../src/world/resources.ts';
import { IPS, NAMESPACES, podObject } from './crowd.ts';
import { NotMeasured, ProgressWatch } from './progress-watch.ts';
import type { BenchRow } from './row.ts';

const ATTACHMENTS = traitsOf('network-attachment-definitions');
const SUBNETS = traitsOf('subnets');

interface AnnotatedPod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}

export interface BindOptions {
  readonly pods: number;
  readonly namespaces: number;
  readonly nodes: number;
  /** Interfaces of each pod: its primary one and attached networks. */
  readonly interfaces: number;
}

export async function bind({ pods: count, namespaces, nodes, interfaces }: BindOptions): Promise<BenchRow[]> {
  const cluster = new RealCluster();
  const ovn = new OvnLab();
  await Promise.all([cluster.start(), ovn.start()]);
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: cluster.kubeconfig }), { connections: 64 }));
  const controllerClient = new KubeClient(
    new KubeTransport(await connectionFromKubeconfig({ path: cluster.kubeconfig }), { connections: 64 }),
  );
  const leaseClient = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: cluster.kubeconfig }), { connections: 2 }));
  const make = (): Controller =>
    makeController(controllerClient, northboundSession({ ovnNb: ovn.nbEndpoint }, SILENT), SILENT, { leaseClient, collectionLimit: false });
  try {
    await installCrds(client, false);
    const kubelet = new StandInKubelet({ client, nodes });
    await kubelet.start();
    await kubelet.stop();
    const networks = await makeNetworks(client, interfaces - 1);
    const first = make();
    first.start();
    await first.untilQuiet();
    await first.stop();

    const spaceOf = (i: number): string => (namespaces === 1 ? 'default' : `space-${i % namespaces}`);
    if (namespaces > 1) for (let i = 0; i < namespaces; i++) await client.create(NAMESPACES, { metadata: { name: spaceOf(i) } });
    await inParallel(count, 64, (i) =>
      client.create(PODS, attached(podObject(spaceOf(i), `bench-${i}`, kubelet.nodes[i % nodes]?.name ?? ''), networks)),
    );

    const controller = make();
    const turns = monitorEventLoopDelay({ resolution: 20 });
    turns.enable();
    const started = performance.now();
    let leading = 0;
    controller.start();
    // Counted on change events: listing every pod every few milliseconds would cost more than binding them.
    const bound = new Set<string>();
    controller.world.pods.onChange((key, after) => {
      if (after !== undefined && routedOf(after.metadata.annotations ?? {}) === interfaces) bound.add(key);
    });
    const watch = new ProgressWatch(() => ({ bound: bound.size, of: count, ...controller.status }));
    await new Promise<void>((done, failed) => {
      const look = setInterval(() => {
        if (leading === 0 && controller.status.phase === 'leading') leading = performance.now();
        const problem = watch.problem();
        if (problem !== undefined) failed(new NotMeasured(problem));
        else if (bound.size >= count) done();
        else return;
        clearInterval(look);
      }, 5);
    });
    const ended = performance.now();
    turns.disable();
    await controller.untilQuiet();
    const { transactions, rowsWritten } = controller.status;
    await controller.stop();
    await verify(client, ovn, count, interfaces);

    const sample = (await client.listAll<AnnotatedPod>(PODS))[0];
    const annotations = sample?.metadata.annotations ?? {};
    const ip = (await client.listAll(IPS)).find(
      ({ metadata }) => metadata.name === `${sample?.metadata.name ?? ''}.${sample?.metadata.namespace ?? ''}`,
    );
    const limitStart = performance.now();
    await inParallel(count, 64, async (i) => {
      for (let nic = 0; nic < interfaces; nic++) await client.create(IPS, copyOf(ip, `limit-${i}-${nic}`));
      await client.mergePatch(
        PODS,
        { namespace: spaceOf(i), name: `bench-${i}` },
        { metadata: { annotations: Object.fromEntries(Object.keys(annotations).map((key) => [`limit.${key}`, annotations[key]])) } },
      );
    });
    const limitMs = performance.now() - limitStart;
    const bindMs = ended - leading;
    const perPod = interfaces === 1 ? 'create IP, patch pod' : `create ${interfaces} IPs, patch pod`;
    const of = `${count} pods, ${namespaces === 1 ? 'one Namespace' : `${namespaces} Namespaces`}, ${nodes} nodes`;
    return [
      { name: `${of}: pods bound per second, from leading to the last annotation`, value: (count * 1_000) / bindMs, unit: 'pods/s' },
      { name: `${of}: the same, from the start of the controller`, value: (count * 1_000) / (ended - started), unit: 'pods/s' },
      { name: `${of}: the API server's own limit for the same writes (${perPod})`, value: (count * 1_000) / limitMs, unit: 'pods/s' },
      { name: `${of}: share of that limit`, value: (limitMs / bindMs) * 100, unit: '%' },
      { name: `${of}: longest turn of the event loop`, value: turns.max / 1e6, unit: 'ms', aim: '< 200' },
      { name: `${of}: transactions`, value: transactions, unit: '' },
      { name: `${of}: rows written`, value: rowsWritten, unit: '' },
    ];
  } finally {
    await client.close();
    await Promise.all([controllerClient.close(), leaseClient.close()]);
    await ovn.stop();
    await cluster.stop();
  }
}

/** The number of a pod's interfaces that are annotated as routed. */
function routedOf(annotations: Readonly<Record<string, string>>): number {
  let routed = 0;
  for (const key in annotations) if (key.endsWith('.kubernetes.io/routed')) routed++;
  return routed;
}

/** Makes attached networks of OVN, each with a Subnet of its own. @returns the annotation that attaches a pod to all of them */
async function makeNetworks(client: KubeClient, count: number): Promise<string> {
  const names = Array.from({ length: count }, (_, i) => `net-${i + 1}`);
  for (const [i, name] of names.entries()) {
    await client.create(ATTACHMENTS, {
      metadata: { name, namespace: 'default' },
      spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' },
    } as KubeObject);
    await client.create(SUBNETS, {
      metadata: { name },
      spec: { provider: `${name}.default.ovn`, cidrBlock: `10.${101 + i}.0.0/16` },
    } as KubeObject);
  }
  return names.map((name) => `default/${name}`).join(',');
}

function attached<T extends KubeObject>(pod: T, networks: string): T {
  if (networks === '') return pod;
  return { ...pod, metadata: { ...pod.metadata, annotations: { [annotationKey.networkAttachments]: networks } } };
}

/** Checks the result on the servers: a wrong one must not be measured. */
async function verify(client: KubeClient, ovn: OvnLab, count: number, interfaces: number): Promise<void> {
  const pods = await client.listAll<AnnotatedPod>(PODS);
  const allocated = pods.flatMap(({ metadata }) =>
    Object.entries(metadata.annotations ?? {}).filter(([key]) => key.endsWith('.kubernetes.io/ip_address')),
  );
  const addresses = new Set(allocated.map(([, value]) => value));
  if (pods.length !== count || allocated.length !== count * interfaces || addresses.size !== count * interfaces)
    throw new Error(`${count} pods of ${interfaces} interfaces have ${addresses.size} different addresses`);
  const ips = (await client.listAll(IPS)).filter(({ metadata }) => metadata.name.startsWith('bench-'));
  const ports = (await ovn.nbctl('--bare', '--columns=name', 'find', 'Logical_Switch_Port', 'type=""'))
    .split('\n')
    .filter((name) => name.startsWith('bench-'));
  if (ips.length !== count * interfaces || ports.length !== count * interfaces)
    throw new Error(`${ips.length} IP objects and ${ports.length} ports for ${count} pods`);
}

function copyOf(ip: KubeObject | undefined, name: string): KubeObject {
  const { spec, metadata } = ip as KubeObject & {
    readonly spec: unknown;
    readonly metadata: KubeObject['metadata'] & { readonly labels?: unknown; readonly annotations?: unknown };
  };
  const { labels, annotations } = metadata;
  return {
    apiVersion: 'kubeovn.io/v1',
    kind: 'IP',
    metadata: { name, labels, annotations, finalizers: metadata.finalizers },
    spec,
  } as KubeObject;
}

async function inParallel(count: number, width: number, run: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await run(next++);
    }),
  );
}
