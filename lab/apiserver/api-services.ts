/**
 * Keeps one APIService for each group version that the server serves. APIServices of other clients get a condition: whether their Service
 * exists.
 */
import { allGroups } from './discovery.ts';
import { timestamp } from './environment.ts';
import type { JsonObject } from './json.ts';
import { at, isObject, text } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import { ApiError } from './status.ts';
import type { StoreEvent } from './store.ts';
import { storeKey } from './store.ts';

const TABLE = 'apiservices';
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged';
/** Priorities of the built-in groups, in the order of discovery; custom groups come last. */
const GROUP_PRIORITIES: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
};
const CUSTOM = { groupPriorityMinimum: 1_000, versionPriority: 100 };

export class ApiServices {
  readonly #operations: Operations;
  readonly #registry: ResourceRegistry;
  readonly #definition: ResourceDefinition;
  readonly #stop: () => void;
  #isDue = false;

  constructor(operations: Operations, registry: ResourceRegistry) {
    const definition = registry.find('apiregistration.k8s.io', 'v1', TABLE);
    if (definition === undefined) throw new Error('the registry has no APIServices');
    this.#operations = operations;
    this.#registry = registry;
    this.#definition = definition;
    // The APIServices of built-in groups are created at the start only.
    this.#make((group) => GROUP_PRIORITIES[group] !== undefined);
    this.#keep();
    this.#stop = operations.store.watchAll((event) => this.#onEvent(event));
  }

  stop(): void {
    this.#stop();
  }

  #onEvent({ table }: StoreEvent): void {
    if (this.#isDue || (table !== TABLE && table !== 'customresourcedefinitions')) return;
    this.#isDue = true;
    this.#operations.environment.schedule(() => {
      this.#isDue = false;
      this.#keep();
    });
  }

  #keep(): void {
    this.#make((group) => GROUP_PRIORITIES[group] === undefined);
    const served = allGroups(this.#registry);
    for (const item of this.#operations.store.list(TABLE)) {
      const [group, version] = [text(at(item, 'spec', 'group')), text(at(item, 'spec', 'version'))];
      const isServed = served.get(group)?.includes(version) === true;
      if (item.metadata.labels?.[MANAGED] === 'true' && !isServed)
        this.#attempt(() => this.#operations.delete(this.#definition, '', item.metadata.name));
      else if (at(item, 'status', 'conditions') === undefined) this.#attempt(() => this.#writeStatus(item));
    }
  }

  #make(isWanted: (group: string) => boolean): void {
    for (const [group, versions] of allGroups(this.#registry)) {
      // A real server has no APIService for the group of APIServices itself.
      if (!isWanted(group) || group === this.#definition.group) continue;
      for (const version of versions) {
        const name = `${version}.${group}`;
        if (this.#operations.store.get(TABLE, storeKey('', name)) !== undefined) continue;
        const own = GROUP_PRIORITIES[group];
        const priorities = own === undefined ? CUSTOM : { groupPriorityMinimum: own, versionPriority: group === '' ? 1 : 15 };
        const labels = { [MANAGED]: own === undefined ? 'true' : 'onstart' };
        const body = { metadata: { name, labels }, spec: { ...(group !== '' && { group }), version, ...priorities } };
        this.#attempt(() => this.#writeStatus(this.#operations.create(this.#definition, '', body)));
      }
    }
  }

  #writeStatus(item: KubeObject): void {
    const lastTransitionTime = timestamp(this.#operations.environment.now());
    const condition: JsonObject = { type: 'Available', ...this.#availability(item), lastTransitionTime };
    this.#operations.replaceState(this.#definition, '', item.metadata.name, (current) => ({
      ...current,
      status: { conditions: [condition] },
    }));
  }

  #availability(item: KubeObject): JsonObject {
    const service = at(item, 'spec', 'service');
    if (!isObject(service)) return { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
    const [namespace, name] = [text(service['namespace']), text(service['name'])];
    return this.#operations.store.get('services', storeKey(namespace, name)) === undefined
      ? { status: 'False', reason: 'ServiceNotFound', message: `service/${name} in ${JSON.stringify(namespace)} is not present` }
      : {
          ...{ status: 'False', reason: 'FailedDiscoveryCheck' },
          message: `this laboratory has no containers: no endpoint answers for service/${name} in ${JSON.stringify(namespace)}`,
        };
  }

  #attempt(write: () => unknown): void {
    try {
      write();
    } catch (error) {
      // An invalid group name, or a finalizer, makes the write fail: the cluster works without this APIService.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
