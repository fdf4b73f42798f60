/**
 * A cluster with very many bound pods: a real kube-apiserver with etcd, a real ovsdb-server. A controller binds some pods, one on each
 * node. All others are copies of these, with names, uids and addresses of their own, written into etcd and the Northbound database as if a
 * controller had bound them. That a controller then writes nothing proves the copies right. There is no northd: nothing here reads the
 * Southbound database, and translating so many ports is not what is measured.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createHash, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import type { Labels } from '../src/api/kubernetes/meta.ts';
import type { KubeObject, Resource } from '../src/kube/resource.ts';
import { PODS } from '../src/kube/resource.ts';
import { installCrds } from '../lab/crd-installation.ts';
import { StandInKubelet } from '../lab/kubelet/stand-in-kubelet.ts';
import { OvnLab } from '../lab/ovn/ovn-lab.ts';
import { RealCluster } from '../lab/real-cluster/real-cluster.ts';
import { monitoredColumns } from '../src/nb/tables.ts';
import { insert, mutateInsert, OvsdbSession } from '../src/ovsdb/index.ts';
import type { Atom, InputValue, Row, Uuid } from '../src/ovsdb/index.ts';
import { putAll } from './etcd.ts';
import type { Stored } from './etcd.ts';
import { ImageController } from './image-controller.ts';
import { MeasuredController } from './measured-controller.ts';

export const IPS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'ips', kind: 'IP', namespaced: false };
export const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };

const SAMPLE_SPACE = 'sample-space';
const BATCH = 200;

export interface CrowdOptions {
  readonly pods: number;
  readonly nodes?: number;
  readonly namespaces?: number;
  /** Files that `announce` of existing crowds wrote: a crowd with the same number of pods is reused. */
  readonly standing?: readonly string[];
}

/** The addresses of a crowd, for other processes. */
interface Whereabouts {
  readonly pods: number;
  readonly nodes: readonly string[];
  readonly kubeconfig: string;
  readonly etcdUrl: string;
  readonly northbound: string;
}

/** A bound pod: the pod object, its IP object and its port row. */
interface Sample {
  readonly name: string;
  readonly pod: string;
  readonly ip: string;
  readonly uids: readonly [string, string];
  readonly address: string;
  readonly mac: string;
  readonly port: Row;
  readonly groups: readonly Uuid[];
  readonly parent: Uuid;
}

export class Crowd {
  readonly client: KubeClient;
  readonly #at: Whereabouts;
  readonly #end: () => Promise<void>;

  private constructor(at: Whereabouts, client: KubeClient, end: () => Promise<void>) {
    this.#at = at;
    this.client = client;
    this.#end = end;
  }

  /** A crowd that exists already, or a new one. */
  static async of(options: CrowdOptions): Promise<Crowd> {
    for (const file of options.standing ?? []) {
      const at = JSON.parse(await readFile(file, 'utf8')) as Whereabouts;
      if (at.pods === options.pods) return new Crowd(at, await clientOf(at), async () => undefined);
    }
    return await Crowd.#start(options);
  }

  static async #start({ pods, nodes = 10, namespaces = 20 }: CrowdOptions): Promise<Crowd> {
    const cluster = new RealCluster({ controllerManager: false });
    const ovn = new OvnLab({ northd: false });
    await Promise.all([cluster.start(), ovn.start()]);
    const { kubeconfig, etcdUrl } = cluster;
    const client = await clientOf({ kubeconfig });
    await installCrds(client, false);
    const kubelet = new StandInKubelet({ client, nodes });
    await kubelet.start();
    await kubelet.stop();
    const at = { pods, nodes: kubelet.nodes.map(({ name }) => name), kubeconfig, etcdUrl, northbound: ovn.nbEndpoint };
    const crowd = new Crowd(at, client, async () => {
      await ovn.stop();
      await cluster.stop();
    });
    for (const name of [SAMPLE_SPACE, ...spaces(namespaces)]) await client.create(NAMESPACES, { metadata: { name } });
    await crowd.#fill(namespaces);
    return crowd;
  }

  get nodes(): readonly string[] {
    return this.#at.nodes;
  }

  get kubeconfig(): string {
    return this.#at.kubeconfig;
  }

  /** The endpoint of the Northbound database. */
  get northbound(): string {
    return this.#at.northbound;
  }

  /** The URL for clients of etcd. */
  get etcdUrl(): string {
    return this.#at.etcdUrl;
  }

  /** Writes the addresses of the crowd into a file beside the kubeconfig, for `standing`. @returns the file's path */
  async announce(): Promise<string> {
    const file = join(dirname(this.#at.kubeconfig), 'crowd.json');
    await writeFile(file, JSON.stringify(this.#at));
    return file;
  }

  /** Stops the crowd, but not one that existed before. */
  async stop(): Promise<void> {
    await this.client.close();
    await this.#end();
  }

  controller(name: string): Promise<MeasuredController> {
    return MeasuredController.start(this.#at.kubeconfig, this.#at.northbound, name);
  }

  imageController(): Promise<ImageController> {
    return ImageController.start(this.#at.kubeconfig, this.#at.northbound);
  }

  async #fill(namespaces: number): Promise<void> {
    const controller = await this.controller('samples');
    const names = this.nodes.map((_, at) => `sample-pod-${at}x`);
    for (const [at, name] of names.entries()) await this.client.create(PODS, podObject(SAMPLE_SPACE, name, this.nodes[at] ?? ''));
    for (const name of names) await untilRouted(this.client, SAMPLE_SPACE, name);
    await controller.report('quiet');
    await controller.stop();
    const session = new OvsdbSession({ endpoints: [this.#at.northbound], database: 'OVN_Northbound', tables: monitoredColumns() });
    session.start();
    await session.untilSynced();
    const samples = await Promise.all(names.map((name) => this.#sample(session, name)));
    const taken = new Set(samples.map(({ address }) => address));
    const addresses = freeAddresses(taken);
    const copies = Array.from({ length: Math.max(0, this.#at.pods - samples.length) }, (_, at) => {
      const sample = samples[at % samples.length] as Sample;
      return copyOf(sample, { name: `p-${at}`, namespace: spaces(namespaces)[at % namespaces] ?? '', address: addresses.next().value });
    });
    await Promise.all([
      putAll(
        this.etcdUrl,
        copies.flatMap(({ stored }) => stored),
      ),
      (async () => {
        for (let at = 0; at < copies.length; at += BATCH) await insertPorts(session, copies.slice(at, at + BATCH));
      })(),
    ]);
    await session.close();
    await this.#untilCached(copies.at(-1)?.stored ?? []);
    // A controller writes what the copies lack: the counts in the Subnet's status.
    const settling = await this.controller('settling');
    await settling.report('quiet');
    await sleep(1_500);
    const { status } = await settling.report('quiet');
    await settling.stop();
    if (status.rowsWritten > 0 || status.objectsWritten > 10)
      throw new Error(`the copies are not what a controller makes: ${JSON.stringify(status)}`);
  }

  /** All rows but that of NB_Global, which has the term, as one text to compare. */
  async northboundFingerprint(): Promise<string> {
    const session = new OvsdbSession({ endpoints: [this.#at.northbound], database: 'OVN_Northbound', tables: monitoredColumns() });
    session.start();
    await session.untilSynced();
    const hash = createHash('sha256');
    for (const table of Object.keys(monitoredColumns()).filter((name) => name !== 'NB_Global')) {
      const rows = [...session.replica.table(table).values()].toSorted((a, b) => (a._uuid < b._uuid ? -1 : 1));
      for (const row of rows)
        hash.update(JSON.stringify(row, (_, value: unknown) => (value instanceof Set || value instanceof Map ? [...value] : value)));
    }
    await session.close();
    return hash.digest('hex');
  }

  /** Waits until the API server's own cache has the last object. */
  async #untilCached(stored: readonly Stored[]): Promise<void> {
    const [, space = '', name = ''] = /^\/registry\/pods\/([^/]+)\/([^/]+)$/.exec(stored[0]?.key ?? '') ?? [];
    if (name === '') return;
    for (;;) {
      const found = await this.client.getPath(`/api/v1/namespaces/${space}/pods/${name}?resourceVersion=0`).catch(() => undefined);
      if (found !== undefined) return;
      await sleep(50);
    }
  }

  async #sample(session: OvsdbSession, name: string): Promise<Sample> {
    const pod = await this.client.get<Annotated>(PODS, { namespace: SAMPLE_SPACE, name });
    const ip = await this.client.get<Annotated>(IPS, { name: `${name}.${SAMPLE_SPACE}` });
    const { replica } = session;
    const port = [...replica.table('Logical_Switch_Port').values()].find((row) => row['name'] === `${name}.${SAMPLE_SPACE}`);
    const holders = (table: string): Uuid[] =>
      [...replica.table(table)].flatMap(([uuid, row]) => ((row['ports'] as ReadonlySet<unknown>).has(port?._uuid) ? [uuid] : []));
    const [parent] = holders('Logical_Switch');
    if (port === undefined || parent === undefined) throw new Error(`no port of ${name}`);
    return {
      name,
      pod: ofYesterday(asStored(pod)),
      ip: ofYesterday(asStored(ip)),
      uids: [pod.metadata.uid ?? '', ip.metadata.uid ?? ''],
      address: pod.metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '',
      mac: pod.metadata.annotations?.['ovn.kubernetes.io/mac_address'] ?? '',
      port,
      groups: holders('Port_Group'),
      parent,
    };
  }
}

async function clientOf({ kubeconfig }: Pick<Whereabouts, 'kubeconfig'>): Promise<KubeClient> {
  return new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: kubeconfig }), { connections: 32 }));
}

type Annotated = KubeObject & { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };

interface Copy {
  readonly stored: readonly Stored[];
  readonly sample: Sample;
  readonly row: Readonly<Record<string, InputValue>>;
}

export function podObject(
  namespace: string,
  name: string,
  nodeName: string,
): KubeObject & { readonly metadata: { readonly labels: Labels }; readonly spec: unknown } {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    // As of a Deployment in each namespace.
    metadata: { name, namespace, labels: { app: namespace, 'pod-template-hash': '7d4b9c5f6' } },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'busybox', ports: [{ name: 'http', containerPort: 8_080, protocol: 'TCP' }] }],
    },
  };
}

/** Polls until a pod has all its annotations. */
export async function untilRouted(client: KubeClient, namespace: string, name: string): Promise<void> {
  for (;;) {
    const { metadata } = await client.get<Annotated>(PODS, { namespace, name });
    if (metadata.annotations?.['ovn.kubernetes.io/routed'] === 'true') return;
    await sleep(3);
  }
}

/** Names of the crowd's namespaces. */
export function spaces(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `space-${at}`);
}

function copyOf(sample: Sample, { name, namespace, address }: { name: string; namespace: string; address: string }): Copy {
  const uids = [randomUUID(), randomUUID()] as const;
  const [, , c = 0, d = 0] = address.split('.').map(Number);
  const mac = ['0a', '00', '00', '10', c.toString(16).padStart(2, '0'), d.toString(16).padStart(2, '0')].join(':');
  const renamed = (text: string): string =>
    text
      .replaceAll(sample.name, name)
      .replaceAll(SAMPLE_SPACE, namespace)
      .replaceAll(sample.uids[0], uids[0])
      .replaceAll(sample.uids[1], uids[1])
      .replaceAll(sample.address, address)
      .replaceAll(sample.mac, mac);
  const value = (of: Row[string]): InputValue => {
    if (of instanceof Map) return new Map([...of].map(([key, one]) => [renamed(String(key)), renamed(String(one))]));
    if (of instanceof Set) return new Set([...(of as ReadonlySet<Atom>)].map((one) => (typeof one === 'string' ? renamed(one) : one)));
    return typeof of === 'string' ? renamed(of) : of;
  };
  const row = Object.fromEntries(
    Object.entries(sample.port).flatMap(([column, of]) => (column === '_uuid' || of === null ? [] : [[column, value(of)]])),
  );
  return {
    sample,
    row,
    stored: [
      { key: `/registry/pods/${namespace}/${name}`, value: renamed(sample.pod) },
      { key: `/registry/kubeovn.io/ips/${name}.${namespace}`, value: renamed(sample.ip) },
    ],
  };
}

async function insertPorts(session: OvsdbSession, copies: readonly Copy[]): Promise<void> {
  const members = new Map<string, { table: string; parent: Uuid; ports: Uuid[] }>();
  const operations = copies.map(({ row, sample }) => {
    const uuid = randomUUID() as Uuid;
    for (const [table, parent] of [['Logical_Switch', sample.parent], ...sample.groups.map((group) => ['Port_Group', group])] as [
      string,
      Uuid,
    ][]) {
      const known = members.get(parent) ?? { table, parent, ports: [] };
      known.ports.push(uuid);
      members.set(parent, known);
    }
    return insert('Logical_Switch_Port', row, uuid);
  });
  const memberships = [...members.values()].map(({ table, parent, ports }) => mutateInsert(table, parent, 'ports', ports));
  const outcome = await session.transact([...operations, ...memberships]);
  if (!outcome.ok) throw outcome.error;
}

/** Without the resourceVersion, which etcd assigns. */
function asStored(object: KubeObject): string {
  const { resourceVersion, ...metadata } = object.metadata;
  void resourceVersion;
  return JSON.stringify({ ...object, metadata });
}

/** Dates conditions back by a day: a new leader would send Events for recent ones, and the copies never had any. */
function ofYesterday(stored: string): string {
  const since = new Date(Date.now() - 86_400_000).toISOString().replace(/\.\d+/, '');
  return stored.replaceAll(/"(last(?:Transition|Update)Time)":"[^"]*"/g, `"$1":"${since}"`);
}

function* freeAddresses(taken: ReadonlySet<string>): Generator<string, string> {
  for (let at = 256; at < 65_000; at++) {
    const address = `10.16.${at >> 8}.${at & 255}`;
    if (!taken.has(address)) yield address;
  }
  throw new Error('the default Subnet is full');
}
