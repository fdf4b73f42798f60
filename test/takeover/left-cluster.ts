/**
 * Database and objects of an older release of Kube-OVN, from the reference data beside the project, put into a cluster as Kiln finds them
 * when it takes over.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { Controller } from '../../src/controller/controller.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject, ObjectMeta } from '../../src/kube/resource.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { RESOURCES, traitsOf } from '../../src/world/resources.ts';
import type { Finding } from '../../src/explain/status.ts';
import type { Leftover } from '../../src/explain/leftovers.ts';
import { leftoverGroups } from '../../src/explain/leftovers.ts';
import { statusOf } from '../../src/explain/status.ts';
import { TABLES } from '../../src/nb/tables.ts';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { until } from '../../src/testing/until.ts';
import { freshLook } from '../../src/testing/fresh-look.ts';
import { InProcessCluster } from '../../src/testing/in-process-cluster.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';

const DATABASES = fileURLToPath(new URL('../../../shared/reference/databases', import.meta.url));

/** Why tests that need the data are skipped; undefined if it is there. */
export const noOlderReleases: string | undefined = existsSync(DATABASES)
  ? undefined
  : 'the reference data lies beside the project (../shared/reference/databases), and is not there';

/**
 * Up to 1.13.13 only port groups of nodes had Kube-OVN's keys, not those of Subnets; there were no routes by source, no BFD ports and no
 * options of load balancers.
 */
const BY_HAND = '1.13.13, made of ';

/** Up to 1.11 router ports of peerings, routes and ACLs had no keys, and no router port named its router. */
const BEFORE_112 = '1.11, made of ';

/** Names of the folders, and in a long run of the variants made from them. */
export const OLDER_RELEASES: readonly string[] =
  noOlderReleases === undefined
    ? readdirSync(DATABASES)
        .toSorted()
        .flatMap((release) => {
          if (!LONG_RUN) return [release];
          if (release.startsWith('v1.14')) return [release, `${BY_HAND}${release}`];
          return release === 'v1.12.35' ? [release, `${BEFORE_112}${release}`] : [release];
        })
    : [];

interface LeftObject extends KubeObject {
  readonly metadata: ObjectMeta & {
    readonly creationTimestamp?: string;
    readonly generation?: number;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly status?: object;
}

type LeftObjects = Readonly<Record<string, LeftObject>>;

/** Objects that others refer to are created first. */
const FIRST: readonly ResourceName[] = [
  'namespaces',
  'nodes',
  'statefulsets',
  'network-attachment-definitions',
  'vpcs',
  'vlans',
  'subnets',
];

/** A cluster with that database and those objects, without a controller. */
export async function clusterAsLeft(wanted: string): Promise<InProcessCluster> {
  const release = wanted.replace(BY_HAND, '').replace(BEFORE_112, '');
  const directory = await mkdtemp(join(tmpdir(), 'kiln-left-'));
  const backupFile = join(directory, 'nb.db');
  await writeFile(backupFile, gunzipSync(readFileSync(join(DATABASES, release, 'nb.db.gz'))));
  const cluster = await InProcessCluster.start({ northbound: { backupFile } });
  await rm(directory, { recursive: true });
  if (wanted.startsWith(BY_HAND)) await asBefore114(cluster.ovn);
  if (wanted.startsWith(BEFORE_112)) await asBefore112(cluster.ovn);
  await putObjects(cluster.client, leftObjects(release));
  return cluster;
}

type Listed = readonly (readonly [uuid: string, ...rest: string[]])[];

/** The columns of each row, after its UUID. */
async function listOf(ovn: InProcessCluster['ovn'], columns: string, table: string): Promise<Listed> {
  const text = await ovn.nbctl('--format=csv', '--no-headings', '--data=bare', `--columns=_uuid,${columns}`, 'list', table);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(',') as [string, ...string[]]);
}

async function asBefore112(ovn: InProcessCluster['ovn']): Promise<void> {
  let peerings = 0;
  for (const [uuid, peer = ''] of await listOf(ovn, 'peer', 'Logical_Router_Port')) {
    if (peer !== '') peerings++;
    if (peer === '') await ovn.nbctl('remove', 'Logical_Router_Port', uuid, 'external_ids', 'lr');
    else await ovn.nbctl('clear', 'Logical_Router_Port', uuid, 'external_ids');
  }
  if (peerings < 2) throw new Error('the database has no peering');
  for (const [uuid] of await listOf(ovn, 'priority', 'ACL')) await ovn.nbctl('clear', 'ACL', uuid, 'external_ids');
}

async function asBefore114(ovn: InProcessCluster['ovn']): Promise<void> {
  const listed = (columns: string, table: string): Promise<Listed> => listOf(ovn, columns, table);
  const groups = (await listed('external_ids', 'Port_Group')).filter(([, externalIds = '']) => externalIds.includes('np='));
  if (groups.length === 0) throw new Error('the database has no port group of a node or a Subnet');
  for (const [uuid] of groups) await ovn.nbctl('remove', 'Port_Group', uuid, 'external_ids', 'vendor', 'subnet', 'node');
  for (const [uuid] of await listed('name', 'Load_Balancer'))
    await ovn.nbctl('remove', 'Load_Balancer', uuid, 'options', 'prefer_local_backend');
  for (const [uuid, policy, prefix = ''] of await listed('policy,ip_prefix', 'Logical_Router_Static_Route'))
    if (policy === 'src-ip' && prefix.includes('/'))
      for (const [router] of await listed('name', 'Logical_Router'))
        await ovn.nbctl('remove', 'Logical_Router', router, 'static_routes', uuid);
  for (const [uuid, name = ''] of await listed('name', 'Logical_Router_Port'))
    if (name.startsWith('bfd@')) await ovn.nbctl('lrp-del', uuid);
  for (const [uuid] of await listed('name', 'HA_Chassis_Group')) await ovn.nbctl('destroy', 'HA_Chassis_Group', uuid);
}

/** Objects by `<plural>/[<namespace>/]<name>`. */
export function leftObjects(release: string): LeftObjects {
  return JSON.parse(gunzipSync(readFileSync(join(DATABASES, release, 'objects.json.gz'))).toString()) as LeftObjects;
}

async function putObjects(client: KubeClient, objects: LeftObjects): Promise<void> {
  // This API server gives the objects new uids.
  const uids = new Map<string, string>();
  const resources = Object.keys(RESOURCES) as ResourceName[];
  for (const resource of [...FIRST, ...resources.filter((one) => !FIRST.includes(one))])
    for (const [key, object] of Object.entries(objects))
      if (key.startsWith(`${resource}/`)) await putObject(client, resource, object, uids);
}

async function putObject(client: KubeClient, resource: ResourceName, object: LeftObject, uids: Map<string, string>): Promise<void> {
  const traits = traitsOf(resource);
  const { uid = '', resourceVersion: _version, creationTimestamp: _created, generation: _generation, ...metadata } = object.metadata;
  const owners = metadata.ownerReferences?.map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? owner.uid }));
  const wanted = { ...object, metadata: { ...metadata, ...(owners !== undefined && { ownerReferences: owners }) } };
  const found = await client.find(traits, metadata);
  const made: KubeObject = await (found === undefined
    ? client.create<KubeObject>(traits, wanted)
    : client.mergePatch(traits, metadata, { metadata }));
  uids.set(uid, made.metadata.uid ?? '');
  if (traits.statusSubresource && object.status !== undefined)
    await client.mergePatch(traits, metadata, { status: object.status }, { subresource: 'status' });
}

const NETWORKS: readonly ResourceName[] = ['vpcs', 'subnets', 'vips'];

/** A controller on such a cluster, and what tests check. */
export class TakenOver implements AsyncDisposable {
  readonly #cluster: InProcessCluster;
  #controller: Controller | undefined;

  /** No controller runs before `converged` is called. */
  constructor(cluster: InProcessCluster) {
    this.#cluster = cluster;
  }

  /** Waits until a fresh controller plans nothing, neither rows nor objects, and no row is in conflict. */
  async converged(): Promise<void> {
    if (this.#controller === undefined) {
      this.#controller = this.#cluster.controller();
      this.#controller.start();
    }
    const end = performance.now() + PATIENCE_MS;
    for (let left = await this.left(); left.length > 0; left = await this.left())
      if (performance.now() > end) throw new Error(`still to be done: ${left.slice(0, 10).join('; ')}`);
  }

  /** The statuses of networks that a fresh controller would write, by object. */
  async plannedStatuses(): Promise<readonly { readonly resource: ResourceName; readonly name: string; readonly status: object }[]> {
    await using look = await freshLook(this.#cluster.client, this.#cluster.ovn.unix);
    return look.plan().objects.flatMap((write) => {
      if (write.verb !== 'patch' || !NETWORKS.includes(write.resource)) return [];
      const { status } = write.patch as { readonly status?: object };
      return status === undefined ? [] : [{ resource: write.resource, name: write.name, status }];
    });
  }

  /** The writes that a fresh controller plans, and the conflicts that keep it from others. */
  async left(): Promise<readonly string[]> {
    await using look = await freshLook(this.#cluster.client, this.#cluster.ovn.unix);
    const { rows, objects } = look.plan();
    return [
      ...rows.map(({ id, verdict }) => `${id} ${verdict.kind}`),
      ...look.conflicts().map(({ id, verdict }) => `${id} ${verdict.kind}`),
      ...objects.map(({ resource, namespace, name, verb }) => `${verb} ${resource} ${namespace}/${name}`),
    ];
  }

  /** UUID, name, MAC, networks and peer of each router port. */
  async routerPorts(): Promise<readonly string[]> {
    return (await listOf(this.#cluster.ovn, 'name,mac,networks,peer', 'Logical_Router_Port')).map((row) => row.join(' ')).toSorted();
  }

  /** Name, network and tag of each port into the network of the nodes. */
  async localnetPorts(): Promise<readonly string[]> {
    const { ovn } = this.#cluster;
    const columns = '--columns=name,options,tag';
    return (await ovn.nbctl('--format=csv', '--no-headings', '--data=bare', columns, 'find', 'Logical_Switch_Port', 'type=localnet'))
      .split('\n')
      .toSorted();
  }

  /** The load balancers of each switch and router. */
  async loadBalancers(): Promise<readonly string[]> {
    const held = await Promise.all(
      ['Logical_Router', 'Logical_Switch'].map((table) => listOf(this.#cluster.ovn, 'name,load_balancer', table)),
    );
    return held
      .flat()
      .map(([uuid, name, balancers = '']) => `${uuid} ${name} ${balancers.split(' ').toSorted().join(' ')}`)
      .toSorted();
  }

  /** The leftovers that `kiln status` and `kiln diff` report, by UUID; with the messages. */
  async leftovers(): Promise<{ readonly rows: ReadonlySet<string>; readonly findings: readonly Finding[] }> {
    await using look = await freshLook(this.#cluster.client, this.#cluster.ovn.unix);
    const groups = leftoverGroups(look.world, look.desired.rows);
    return {
      rows: new Set(groups.flatMap(({ rows }) => rows.map(({ uuid }) => uuid))),
      findings: statusOf(look.world, true).findings.filter(({ what }) => what === 'left over'),
    };
  }

  /** The leftovers whose names begin so. */
  async leftoversNamed(name: string): Promise<readonly Leftover[]> {
    await using look = await freshLook(this.#cluster.client, this.#cluster.ovn.unix);
    return leftoverGroups(look.world).flatMap(({ rows }) => rows.filter((row) => row.name === name || row.name.startsWith(`${name}|`)));
  }

  /** Rows of all tables without a row owner: table by UUID. */
  async rowsWithoutOwner(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const table of [...TABLES.map((spec) => spec.table), 'HA_Chassis_Group', 'BFD', 'Meter'].filter((one) => one !== 'NB_Global')) {
      const printed = await this.#cluster.ovn.nbctl('--format=json', '--data=json', '--columns=_uuid,external_ids', 'list', table);
      for (const [uuid, externalIds] of (
        JSON.parse(printed) as { readonly data: readonly (readonly [readonly [string, string], unknown])[] }
      ).data)
        if (!JSON.stringify(externalIds).includes('kiln.io/owner')) found.set(uuid[1], table);
    }
    return found;
  }

  async list(resource: ResourceName): Promise<readonly PrintedLeft[]> {
    return await this.#cluster.client.listAll<PrintedLeft>(traitsOf(resource));
  }

  /** Status of the condition `Ready`; undefined if there is none. */
  ready({ status }: PrintedLeft): string | undefined {
    return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  }

  /** Deletes every object of the resource except `kept`: those that pods, nodes and namespaces depend on. */
  async deleteAll(resource: ResourceName, kept: readonly string[] = []): Promise<void> {
    const { client } = this.#cluster;
    for (const { metadata } of await this.list(resource))
      if (!kept.includes(metadata.name)) await client.delete(traitsOf(resource), metadata, { gracePeriodSeconds: 0 });
  }

  /** Deletes an object of cluster scope without its finalizers, as with `kubectl patch`. */
  async removeByForce(resource: ResourceName, name: string): Promise<void> {
    const { client } = this.#cluster;
    await client.mergePatch(traitsOf(resource), { name }, { metadata: { finalizers: null } });
    const found = await client.find<KubeObject>(traitsOf(resource), { name });
    if (found !== undefined) await client.delete(traitsOf(resource), found.metadata);
  }

  /** Waits until only `kept` is left of the resource. */
  async gone(resource: ResourceName, kept: readonly string[] = []): Promise<void> {
    const names = async (): Promise<readonly string[]> => (await this.list(resource)).map(({ metadata }) => metadata.name);
    await until(`${resource} are gone`, async () => (await names()).every((name) => kept.includes(name)));
  }

  /** The identity of each row of ours or of Kube-OVN's, by UUID. */
  async rowsByUuid(): Promise<ReadonlyMap<string, string>> {
    await using look = await freshLook(this.#cluster.client, this.#cluster.ovn.unix);
    const rows = TABLES.flatMap(({ table }) => look.world.rows.inTable(table));
    return new Map(rows.filter(({ ownership }) => ownership.kind !== 'foreign').map(({ uuid, id }) => [uuid, id]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller?.stop();
  }
}

export interface TimedCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

export interface PrintedLeft extends KubeObject {
  readonly spec?: { readonly subnet?: string };
  readonly status?: { readonly conditions?: readonly TimedCondition[] };
}
