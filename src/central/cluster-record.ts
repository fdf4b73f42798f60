/**
 * What members share in Kubernetes: a ConfigMap that names the founder of the cluster, which servers each database has, and where clients find them;
 * and Secrets with keys. The manifest creates all of them without contents, so that no account needs the right to create Secrets.
 */
import { isKubeError } from '../kube/errors.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { KubeObject, Resource } from '../kube/resource.ts';
import { RESOURCES } from '../world/resources.ts';
import { type DatabaseName, endpoints } from './databases.ts';
import type { KeyStage, KeyStages } from './key-stages.ts';
import { makeKeys, type Material, type OvnKeys, withClusterKeys } from './keys.ts';

export interface DatabaseRecord {
  /** Of the cluster. */
  readonly id: string;
  /** Addresses by the first digits of the servers' ids. */
  readonly servers: Readonly<Record<string, string>>;
}

export interface ClusterRecord {
  /** Name of the Node whose member makes the databases. */
  readonly founder: string;
  readonly nb?: DatabaseRecord | undefined;
  readonly sb?: DatabaseRecord | undefined;
}

export interface RecordNames {
  readonly namespace: string;
  readonly configMap: string;
  readonly memberKeys: string;
  readonly controllerKeys: string;
  readonly nodeKeys: string;
  /** Selector of the Nodes that have members. */
  readonly nodes: string;
}

export const RECORD_NAMES: RecordNames = {
  namespace: 'kube-system',
  configMap: 'kiln-ovn',
  memberKeys: 'kiln-ovn-central-tls',
  controllerKeys: 'kube-ovn-tls',
  nodeKeys: 'kiln-ovn-node-tls',
  nodes: 'node-role.kubernetes.io/control-plane',
};

const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };

interface WithData extends KubeObject {
  readonly data?: Readonly<Record<string, string>> | undefined;
}

interface Node extends KubeObject {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

export class SharedRecord {
  readonly #client: KubeClient;
  readonly #names: RecordNames;

  constructor(client: KubeClient, names: RecordNames) {
    this.#client = client;
    this.#names = names;
  }

  /** Addresses of the nodes that have members, in order. */
  async members(): Promise<readonly string[]> {
    const nodes = await this.#client.listAll<Node>(RESOURCES.nodes, { labelSelector: this.#names.nodes });
    const addresses = nodes.flatMap(({ status }) => status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? []);
    return addresses.toSorted();
  }

  async read(): Promise<ClusterRecord | undefined> {
    return recordIn(await this.#configMap());
  }

  /** The record; the first member that asks becomes the founder. */
  async foundedBy(node: string, members: readonly string[]): Promise<ClusterRecord> {
    for (;;) {
      const object = await this.#configMap();
      const record = recordIn(object);
      if (record !== undefined) return record;
      try {
        const data = { ...object.data, founder: node, ...clients(members) };
        // With the version that was read: of two members one comes first.
        await this.#client.update<WithData>(CONFIG_MAPS, { ...object, data });
        return { founder: node };
      } catch (error) {
        if (!isKubeError(error, 'KUBE_CONFLICT')) throw error;
      }
    }
  }

  /** What the leader of a database sees; writes only what differs. @param members undefined: not known now */
  async publish(name: DatabaseName, database: DatabaseRecord, members: readonly string[] | undefined): Promise<void> {
    const { data = {} } = await this.#configMap();
    const wanted = { [`${name}-cluster`]: JSON.stringify(database), ...(members === undefined ? {} : clients(members)) };
    const changed = Object.entries(wanted).filter(([key, value]) => data[key] !== value);
    if (changed.length === 0) return;
    const { namespace, configMap } = this.#names;
    await this.#client.mergePatch(CONFIG_MAPS, { namespace, name: configMap }, { data: Object.fromEntries(changed) });
  }

  /**
   * All keys, which are made once; what an earlier release did not make is added. The Secrets of the controller and of nodes get theirs where they are empty: they may be another
   * installation's.
   *
   * @param now milliseconds since 1970
   */
  async keys(now: number): Promise<OvnKeys> {
    const { memberKeys, controllerKeys, nodeKeys } = this.#names;
    for (;;) {
      const secret = await this.#secret(memberKeys);
      const text = contentsOf(secret)?.['keys.json'];
      const found = text === undefined ? undefined : (JSON.parse(text) as Omit<OvnKeys, 'cluster'> & Partial<OvnKeys>);
      if (found?.cluster !== undefined) {
        await this.#fill(controllerKeys, found.controller);
        await this.#fill(nodeKeys, found.nodes);
        return found as OvnKeys;
      }
      // All of them in one write: of two members one comes first, and nothing is half made.
      await this.#put(secret, { 'keys.json': JSON.stringify(found === undefined ? makeKeys(now) : withClusterKeys(found, now)) });
    }
  }

  /** What each member says of its keys among members. */
  async keyStages(): Promise<KeyStages> {
    return stagesIn(await this.#configMap());
  }

  async recordKeyStage(address: string, stage: KeyStage): Promise<void> {
    for (;;) {
      const object = await this.#configMap();
      const stages = stagesIn(object);
      if (stages[address] === stage) return;
      try {
        const data = { ...object.data, [KEY_STAGES]: JSON.stringify({ ...stages, [address]: stage }) };
        return void (await this.#client.update<WithData>(CONFIG_MAPS, { ...object, data }));
      } catch (error) {
        if (!isKubeError(error, 'KUBE_CONFLICT')) throw error;
      }
    }
  }

  /** Fills an empty Secret. */
  async #fill(name: string, material: Material): Promise<void> {
    const secret = await this.#secret(name);
    if (contentsOf(secret) === undefined) await this.#put(secret, material);
  }

  /** Unless somebody else wrote it since it was read. */
  async #put(secret: WithData, material: Material): Promise<void> {
    const data = Object.fromEntries(Object.entries(material).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
    try {
      await this.#client.update<WithData>(SECRETS, { ...secret, data });
    } catch (error) {
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error;
    }
  }

  async #secret(name: string): Promise<WithData> {
    return await this.#client.get<WithData>(SECRETS, { namespace: this.#names.namespace, name });
  }

  async #configMap(): Promise<WithData> {
    return await this.#client.get<WithData>(CONFIG_MAPS, { namespace: this.#names.namespace, name: this.#names.configMap });
  }
}

function clients(members: readonly string[]): Readonly<Record<DatabaseName, string>> {
  return { nb: endpoints('nb', members), sb: endpoints('sb', members) };
}

const KEY_STAGES = 'key-stages';

function stagesIn({ data = {} }: WithData): KeyStages {
  return JSON.parse(data[KEY_STAGES] ?? '{}') as KeyStages;
}

function recordIn({ data = {} }: WithData): ClusterRecord | undefined {
  const { founder } = data;
  if (founder === undefined || founder === '') return undefined;
  const database = (name: DatabaseName): DatabaseRecord | undefined => {
    const text = data[`${name}-cluster`];
    return text === undefined ? undefined : (JSON.parse(text) as DatabaseRecord);
  };
  return { founder, nb: database('nb'), sb: database('sb') };
}

function contentsOf({ data = {} }: WithData): Material | undefined {
  const entries = Object.entries(data ?? {});
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}
