/** What a cluster's other programs do with pods: kubelets that confirm deletions, and the StatefulSet controller. */
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ResourceDefinition } from '../../../lab/apiserver/resource.ts';
import type { LabApi } from '../../../lab/apiserver/server.ts';
import { ApiError } from '../../../lab/apiserver/status.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

interface StatefulSetSpec {
  readonly replicas?: number;
  readonly ordinals?: { readonly start?: number };
  readonly template: JsonObject;
}

export class Workloads {
  readonly #lab: LabApi;
  readonly #time: VirtualTime;
  readonly #chance: Random;
  readonly #pods: ResourceDefinition;
  /** Nodes whose kubelet does not answer. */
  readonly #down = new Set<string>();

  constructor(lab: LabApi, time: VirtualTime, chance: Random) {
    this.#lab = lab;
    this.#time = time;
    this.#chance = chance;
    this.#pods = lab.registry.find('', 'v1', 'pods') as ResourceDefinition;
    lab.store.watchAll(({ type, table, object }) => {
      if (table === 'pods') {
        if (type !== 'DELETED') this.#look(object);
        const set = ownerOf(object, 'StatefulSet');
        if (set !== undefined && type === 'DELETED') this.#later(() => this.#scale(object.metadata.namespace ?? '', set));
      }
      if (table === 'statefulsets' && type !== 'DELETED')
        this.#later(() => this.#scale(object.metadata.namespace ?? '', object.metadata.name));
    });
  }

  /** The node's kubelet stops: no deletion is confirmed until it is back. */
  stopNode(name: string): void {
    this.#down.add(name);
  }

  startNode(name: string): void {
    this.#down.delete(name);
    for (const pod of this.#lab.store.list('pods')) this.#look(pod);
  }

  startNodes(): void {
    for (const name of [...this.#down]) this.startNode(name);
  }

  #look(pod: KubeObject): void {
    const { deletionTimestamp, deletionGracePeriodSeconds, name, namespace = '', uid } = pod.metadata;
    if (deletionTimestamp === undefined || deletionGracePeriodSeconds === 0) return;
    this.#later(() => {
      const now = this.#lab.store.get('pods', `${namespace}/${name}`);
      const node = (now?.['spec'] as { readonly nodeName?: string } | undefined)?.nodeName ?? '';
      if (now?.metadata.uid !== uid || this.#down.has(node)) return;
      attempt(() => this.#lab.operations.delete(this.#pods, namespace, name, { gracePeriodSeconds: 0 }));
    });
  }

  #scale(namespace: string, name: string): void {
    const set = this.#lab.store.get('statefulsets', `${namespace}/${name}`);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
    const { replicas = 1, ordinals, template } = set['spec'] as unknown as StatefulSetSpec;
    const first = ordinals?.start ?? 0;
    const own = this.#lab.store
      .list('pods', namespace)
      .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid) === true);
    const { metadata = {}, spec } = template as { readonly metadata?: JsonObject; readonly spec?: JsonObject };
    for (let ordinal = first; ordinal < first + replicas; ordinal++) {
      const pod = `${name}-${ordinal}`;
      if (this.#lab.store.get('pods', `${namespace}/${pod}`) !== undefined) continue;
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: set.metadata.uid, controller: true };
      const object = {
        metadata: { ...structuredClone(metadata), name: pod, namespace, ownerReferences: [owner] },
        spec: { ...structuredClone(spec), nodeName: `n${ordinal % 2}` },
      };
      attempt(() => this.#lab.operations.create(this.#pods, namespace, object));
    }
    for (const pod of own) {
      const ordinal = Number(pod.metadata.name.slice(name.length + 1));
      if ((ordinal < first || ordinal >= first + replicas) && pod.metadata.deletionTimestamp === undefined)
        attempt(() => this.#lab.operations.delete(this.#pods, namespace, pod.metadata.name, {}));
    }
  }

  #later(run: () => void): void {
    this.#time.after(1 + this.#chance.below(200), run);
  }
}

function ownerOf(object: KubeObject, kind: string): string | undefined {
  return object.metadata.ownerReferences?.find((one) => one.kind === kind)?.name;
}

/** Ignores an error: another program may have changed the object first, and then there is nothing to do. */
function attempt(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
