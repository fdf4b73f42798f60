/**
 * The environment of mutants: the real controller, a real ovsdb-server, the laboratory's API server, and a valid network that must keep
 * working.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Controller } from '../../src/controller/controller.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { InProcessCluster } from '../../src/testing/in-process-cluster.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import { until } from '../../src/testing/until.ts';
import type { Manifest } from './manifests.ts';

const CONTROLLER = 'kiln-controller';
const SERVED = 'served';

const RESOURCES: Readonly<Record<string, readonly [group: string, plural: string, namespaced: boolean]>> = {
  Vpc: ['kubeovn.io', 'vpcs', false],
  Subnet: ['kubeovn.io', 'subnets', false],
  IP: ['kubeovn.io', 'ips', false],
  IPPool: ['kubeovn.io', 'ippools', false],
  Vip: ['kubeovn.io', 'vips', false],
  OvnEip: ['kubeovn.io', 'ovn-eips', false],
  IptablesEIP: ['kubeovn.io', 'iptables-eips', false],
  OvnFip: ['kubeovn.io', 'ovn-fips', false],
  Event: ['', 'events', true],
  Pod: ['', 'pods', true],
  Node: ['', 'nodes', false],
  Namespace: ['', 'namespaces', false],
  NetworkAttachmentDefinition: ['k8s.cni.cncf.io', 'network-attachment-definitions', true],
};

export function resourceOf(kind: string): Resource {
  const [group, plural, namespaced] = RESOURCES[kind] ?? ['', '', false];
  return { group, version: 'v1', plural, kind, namespaced };
}

export class Ground {
  readonly client: KubeClient;
  readonly controller: Controller;
  /** Errors that the controller logged: rules that threw. */
  readonly errors: string[] = [];
  readonly warnings: string[] = [];
  /** Failed transactions, as OVSDB's error messages. */
  readonly refused: string[] = [];
  /** Writes of the controller by path, since the last call of `takeWrites`. */
  #writes = new Map<string, number>();
  readonly #cluster: InProcessCluster;
  #rows = 0;

  private constructor(cluster: InProcessCluster) {
    this.#cluster = cluster;
    this.client = cluster.client;
    this.controller = cluster.controller({
      client: new KubeClient(new KubeTransport(cluster.connection, { connections: 16, userAgent: CONTROLLER })),
      log: {
        ...SILENT,
        error: (message, fields) => this.errors.push(`${message} ${JSON.stringify(fields)}`),
        warn: (message, fields) => {
          this.warnings.push(`${message} ${JSON.stringify(fields)}`);
          if (message === 'transaction failed') this.refused.push(JSON.stringify(fields));
        },
      },
      collectionLimit: false,
    });
  }

  static async start(): Promise<Ground> {
    const counting: { ground?: Ground } = {};
    const cluster = await InProcessCluster.start({
      onRequest: ({ method = '', url = '', headers }) => {
        if (method !== 'GET' && String(headers['user-agent']).startsWith(CONTROLLER) && !url.includes('/leases'))
          counting.ground?.count(url);
      },
    });
    const ground = new Ground(cluster);
    counting.ground = ground;
    ground.controller.start();
    await ground.lay();
    return ground;
  }

  count(url: string): void {
    const [path = ''] = url.split('?');
    this.#writes.set(path, (this.#writes.get(path) ?? 0) + 1);
  }

  /** Waits until the controller has written nothing for some seconds: Events come last. */
  async writesNothing(): Promise<void> {
    const sum = (): number => [...this.#writes.values()].reduce((all, one) => all + one, 0);
    for (const end = performance.now() + PATIENCE_MS; ;) {
      const before = sum();
      await sleep(5_000);
      if (sum() === before) return;
      if (performance.now() > end) throw new Error(`it goes on writing: ${[...this.#writes.keys()].slice(-5).join(', ')}`);
    }
  }

  takeWrites(): ReadonlyMap<string, number> {
    const taken = this.#writes;
    this.#writes = new Map();
    return taken;
  }

  async create(object: object): Promise<void> {
    const { kind } = object as Manifest;
    await this.client.create(resourceOf(kind), object as KubeObject);
  }

  async quiet(what: string): Promise<void> {
    const late = sleep(PATIENCE_MS, 'late' as const, { ref: false });
    const end = await Promise.race([this.controller.untilQuiet(), late]);
    if (end !== 'late') return;
    const { rows, objects } = this.controller.plan();
    const left = [
      ...rows.map(({ id, verdict }) => `${verdict.kind} ${id}`),
      ...objects.map(({ verb, resource, name }) => `${verb} ${resource}/${name}`),
    ];
    throw new Error(
      `not quiet ${PATIENCE_MS / 1_000} s after ${what}; to do: ${left.slice(0, 10).join(', ')}; said last: ${this.warnings.slice(-5).join('\n')}`,
    );
  }

  /** Makes the valid network: a Vpc, Subnets, an attached network. */
  async lay(): Promise<void> {
    const kubeovn = { apiVersion: 'kubeovn.io/v1' };
    await this.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
    await this.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ground' } });
    await this.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mutants' } });
    // A mutant may name a namespace that it knows, with a pool without free addresses: the pod that must get an address is in a namespace
    // that no mutant names.
    await this.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: SERVED } });
    await this.create({ ...kubeovn, kind: 'Vpc', metadata: { name: 'ground' }, spec: { namespaces: ['ground', SERVED] } });
    const subnet = async (name: string, cidrBlock: string, namespaces: readonly string[]): Promise<void> =>
      await this.create({ ...kubeovn, kind: 'Subnet', metadata: { name }, spec: { vpc: 'ground', cidrBlock, namespaces } });
    await subnet('ground-net', '10.200.0.0/16', ['ground']);
    // Likewise a pool may take all addresses of a Subnet that a mutant knows.
    await subnet('served-net', '10.220.0.0/16', [SERVED]);
    await this.create({
      ...kubeovn,
      kind: 'Subnet',
      metadata: { name: 'ground-attached' },
      spec: { cidrBlock: '10.210.0.0/16', vpc: 'ground', provider: 'ground.ground.ovn' },
    });
    await this.create({
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'ground', namespace: 'ground' },
      spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"ground.ground.ovn"}' },
    });
    await this.serves('first');
    await this.quiet('the beginning');
    this.#rows = this.controller.world.rows.owned.size;
    this.takeWrites();
  }

  /** A valid pod gets its address, and is deleted. */
  async serves(name: string): Promise<void> {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: SERVED } };
    await this.create({
      ...pod,
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox' }] },
    });
    const { metadata } = pod;
    const said = async (): Promise<string> => {
      const seen = await this.client.get<KubeObject & { readonly status?: object }>(resourceOf('Pod'), metadata);
      return JSON.stringify([seen.metadata, seen.status]);
    };
    const holds = async (): Promise<boolean> => {
      const { metadata: seen } = await this.client.get<KubeObject & { metadata: { annotations?: Record<string, string> } }>(
        resourceOf('Pod'),
        metadata,
      );
      return (
        seen.annotations?.['ovn.kubernetes.io/allocated'] === 'true' &&
        (seen.annotations['ovn.kubernetes.io/ip_address'] ?? '').startsWith('10.220.')
      );
    };
    await this.#until(`pod ${name} of the sound network has its address`, holds).catch(async (error: unknown) => {
      throw new Error(`the pod is ${await said()}`, { cause: error });
    });
    await this.client.delete(resourceOf('Pod'), metadata, { gracePeriodSeconds: 0 });
  }

  /** Deletes all of them, and waits until none of their rows and IP objects is left. */
  async clear(objects: readonly Manifest[]): Promise<void> {
    for (const { kind, metadata } of objects)
      await this.client.delete(resourceOf(kind), metadata, { gracePeriodSeconds: 0 }).catch(() => undefined);
    for (const { kind, metadata } of objects)
      await this.#until(`${kind} ${metadata.name} is gone`, async () => (await this.client.find(resourceOf(kind), metadata)) === undefined);
    await this.quiet('the deletion of the mutants');
    await this.#until('no row and no IP object is left', async () => {
      const names = (await this.client.listAll(resourceOf('IP'))).map(({ metadata }) => metadata.name).filter((name) => name !== 'node-n1');
      return names.length === 0 && this.controller.world.rows.owned.size === this.#rows;
    });
  }

  async stop(): Promise<void> {
    await this.controller.stop();
    await this.#cluster.stop();
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await until(what, holds, PATIENCE_MS, () => {
      const { owned } = this.controller.world.rows;
      return `rows: ${owned.size} for ${this.#rows}; ${[...owned].slice(-5).join(', ')}`;
    });
  }
}
