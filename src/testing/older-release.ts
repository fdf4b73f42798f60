/**
 * What a Kube-OVN of an older release left, database and objects, of which the reference data beside the project has some: put into a cluster as a
 * take-over finds them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCES, traitsOf } from '../world/resources.ts';
import { InProcessCluster } from './in-process-cluster.ts';

const DATABASES = fileURLToPath(new URL('../../../shared/reference/databases', import.meta.url));

/** Why tests of them are skipped; undefined where the data is there. */
export const noOlderReleases: string | undefined = existsSync(DATABASES)
  ? undefined
  : 'the reference data lies beside the project (../shared/reference/databases), and is not there';

/** Names of the folders. */
export const OLDER_RELEASES: readonly string[] = noOlderReleases === undefined ? readdirSync(DATABASES).toSorted() : [];

interface LeftObject extends KubeObject {
  readonly metadata: ObjectMeta & {
    readonly creationTimestamp?: string;
    readonly generation?: number;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly status?: object;
}

type LeftObjects = Readonly<Record<string, LeftObject>>;

/** What others refer to comes first. */
const FIRST: readonly ResourceName[] = [
  'namespaces',
  'nodes',
  'statefulsets',
  'network-attachment-definitions',
  'vpcs',
  'vlans',
  'subnets',
];

/** A cluster with that database and those objects, and no controller yet. */
export async function clusterAsLeft(release: string): Promise<InProcessCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-left-'));
  const backupFile = join(directory, 'nb.db');
  await writeFile(backupFile, gunzipSync(readFileSync(join(DATABASES, release, 'nb.db.gz'))));
  const cluster = await InProcessCluster.start({ northbound: { backupFile } });
  await rm(directory, { recursive: true });
  await putObjects(cluster.client, leftObjects(release));
  return cluster;
}

/** By `<plural>/[<namespace>/]<name>`. */
export function leftObjects(release: string): LeftObjects {
  return JSON.parse(gunzipSync(readFileSync(join(DATABASES, release, 'objects.json.gz'))).toString()) as LeftObjects;
}

async function putObjects(client: KubeClient, objects: LeftObjects): Promise<void> {
  // Another API server gives other uids.
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
