import type { Service } from '../../src/api/kubernetes/core.ts';
import { selectorMatches } from '../../src/api/kubernetes/label-selector.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { isKubeError } from '../../src/kube/errors.ts';
import { ListWatchCache } from '../../src/kube/cache/list-watch-cache.ts';
import { keyOf, type KubeObject, type Resource } from '../../src/kube/resource.ts';
import { KeyQueue } from './key-queue.ts';
import { type PlannedEndpoints, type PlannedSlice, planEndpoints } from './plan-endpoints.ts';
import { type ChildPod, nameSuffix } from './workload.ts';

const core = (plural: string, kind: string): Resource => ({ group: '', version: 'v1', plural, kind, namespaced: true });
const SERVICES = core('services', 'Service');
const ENDPOINTS = core('endpoints', 'Endpoints');
const SLICES: Resource = { ...core('endpointslices', 'EndpointSlice'), group: 'discovery.k8s.io' };
const SERVICE_NAME = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const CHANGED = 'endpoints.kubernetes.io/last-change-trigger-time';

type Slice = KubeObject & PlannedSlice;
type Wanted = PlannedEndpoints & { readonly labels: Readonly<Record<string, string>> };

export interface StandInEndpointsOptions {
  readonly client: KubeClient;
  /** All pods, trimmed to the fields of `ChildPod`. */
  readonly pods: ListWatchCache<KubeObject>;
}

/** Maintains the Endpoints and EndpointSlices of Services that select pods. */
export class StandInEndpoints {
  readonly #options: StandInEndpointsOptions;
  readonly #services: ListWatchCache<KubeObject>;
  /** By Service: the last written endpoints. */
  readonly #written = new Map<string, string>();
  readonly #queue = new KeyQueue((key) => this.#follow(key));

  constructor(options: StandInEndpointsOptions) {
    this.#options = options;
    this.#services = new ListWatchCache<KubeObject>({ client: options.client, resource: SERVICES });
  }

  /** Must run after the pods are known. */
  async start(): Promise<void> {
    this.#services.onDelta((deltas) => {
      for (const { object } of deltas) this.#queue.add(keyOf(object.metadata));
    });
    this.#options.pods.onDelta((deltas) => {
      const namespaces = new Set(deltas.map(({ object }) => object.metadata.namespace));
      for (const { metadata } of this.#services.values()) if (namespaces.has(metadata.namespace)) this.#queue.add(keyOf(metadata));
    });
    await this.#services.start().untilSynced();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#services.close()]);
  }

  async #follow(key: string): Promise<void> {
    try {
      await this.#write(key);
    } catch (error) {
      this.#written.delete(key);
      // A terminating namespace accepts no creations, and its Services will be deleted.
      if (!isKubeError(error, 'KUBE_NAMESPACE_TERMINATING')) throw error;
    }
  }

  async #write(key: string): Promise<void> {
    const service = this.#services.get(key) as unknown as Service | undefined;
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) {
      const [namespace, name] = key.split('/') as [string, string];
      // The Service owns its slices, so they are collected with it.
      if (this.#written.delete(key)) await this.#options.client.delete(ENDPOINTS, { namespace, name });
      return;
    }
    const { metadata, spec } = service;
    if (Object.keys(spec.selector ?? {}).length === 0 || spec.type === 'ExternalName') return;
    const selected = (pod: KubeObject): boolean =>
      pod.metadata.namespace === metadata.namespace &&
      selectorMatches({ matchLabels: spec.selector ?? {} }, (pod as ChildPod).metadata.labels);
    const labels = { ...metadata.labels, ...(spec.clusterIP === 'None' && { [HEADLESS]: '' }) };
    const wanted = { ...planEndpoints(service, [...this.#options.pods.values()].filter(selected) as ChildPod[]), labels };
    const text = JSON.stringify([metadata.uid, wanted]);
    if (this.#written.get(key) === text) return;
    this.#written.set(key, text);
    await this.#writeEndpoints(service, wanted);
    await this.#writeSlices(service, wanted);
  }

  async #writeEndpoints({ metadata }: Service, { subsets, labels }: Wanted): Promise<void> {
    const { client } = this.#options;
    const { name, namespace = '' } = metadata;
    const annotations = { [CHANGED]: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
    const body = { metadata: { name, namespace, labels, annotations }, subsets };
    const present = await client.find<KubeObject & { readonly subsets?: unknown }>(ENDPOINTS, { namespace, name });
    if (present === undefined) await client.create(ENDPOINTS, body);
    else if (!isSame(present.subsets ?? [], subsets) || !isSame((present as ChildPod).metadata.labels ?? {}, labels))
      await client.mergePatch(ENDPOINTS, { namespace, name }, body);
  }

  async #writeSlices({ metadata }: Service, { slices, labels: own }: Wanted): Promise<void> {
    const { client } = this.#options;
    const { name, namespace = '', uid } = metadata;
    const labels = { ...own, [MANAGED_BY]: MANAGER, [SERVICE_NAME]: name };
    const labelSelector = `${SERVICE_NAME}=${name},${MANAGED_BY}=${MANAGER}`;
    const present = new Set(await client.listAll<Slice>(SLICES, { namespace, labelSelector }));
    for (const { addressType, endpoints, ports } of slices) {
      const free = [...present].filter((slice) => slice.addressType === addressType);
      const slice = free.find((one) => isSame(one.ports ?? [], ports)) ?? free[0];
      if (slice === undefined) {
        const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }];
        const about = { name: `${name}-${nameSuffix(Math.random)}`, generateName: `${name}-`, namespace, labels, ownerReferences };
        await client.create(SLICES, { metadata: about, addressType, endpoints, ports } as unknown as KubeObject);
        continue;
      }
      present.delete(slice);
      if (!isSame(slice.endpoints ?? [], endpoints) || !isSame(slice.ports ?? [], ports))
        await client.mergePatch(SLICES, slice.metadata, { metadata: { labels }, endpoints, ports });
    }
    for (const slice of present) await client.delete(SLICES, slice.metadata);
  }
}

/** Compares the result of `planEndpoints` with the stored one: their fields have the same order, and JSON omits undefined ones. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
