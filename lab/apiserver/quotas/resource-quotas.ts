/** ResourceQuotas: keeps the usage in their status, and rejects writes that would exceed it. */
import type { Json, JsonObject } from '../json.ts';
import { at, equal, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Guard, Operations } from '../operations.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { ResourceDefinition } from '../resource.ts';
import { forbidden, resourceName } from '../status.ts';
import type { StoreEvent } from '../store.ts';
import { StoreController } from '../store-controller.ts';
import { storeKey } from '../store.ts';
import type { Quantity } from './quantity.ts';
import { add, formatQuantity, quantityOf, subtract, ZERO } from './quantity.ts';
import type { Usage } from './quota-usage.ts';
import { COMPUTE, inScope, usageOf } from './quota-usage.ts';

const TABLE = 'resourcequotas';
/** The kinds whose updates a server checks against quotas, too. */
const MAY_GROW = new Set(['services', 'persistentvolumeclaims']);
const NOTHING: Usage = new Map();

/** Counts nothing in a namespace without a quota. */
export class ResourceQuotas extends StoreController {
  constructor(operations: Operations, registry: ResourceRegistry) {
    super(operations, registry);
    operations.addVerdict(this.#verdict);
    for (const quota of operations.store.list(TABLE)) this.enqueue(quota.metadata.namespace ?? '');
  }

  readonly #verdict: Guard = ({ verb, definition, namespace, name, object: item }) => {
    const { store } = this.operations;
    if (item === undefined || !definition.namespaced || store.count(TABLE) === 0) return;
    const resource = resourceName(definition);
    const usage = verb === 'create' ? usageOf(resource, item) : this.#growth(definition, namespace, name, item);
    if (usage.size === 0) return;
    for (const quota of store.list(TABLE, namespace)) {
      const hard = object(at(quota, 'spec', 'hard'));
      const concerned = Object.keys(hard).filter((key) => usage.has(key));
      if (!inScope(quota, resource, item)) continue;
      const missing = resource === 'pods' ? unstated(item, hard) : '';
      if (missing !== '') throw forbidden(definition, name, `failed quota: ${quota.metadata.name}: must specify ${missing}`);
      if (concerned.length === 0) continue;
      const used = this.#used(quota, concerned);
      const beyond = concerned.filter((key) => add(used.get(key) ?? ZERO, usage.get(key) ?? ZERO).nano > quantityOf(hard[key]).nano);
      if (beyond.length === 0) continue;
      const shown = (amount: (key: string) => Quantity): string =>
        beyond
          .sort()
          .map((key) => `${key}=${formatQuantity(amount(key))}`)
          .join(',');
      throw forbidden(
        definition,
        name,
        `exceeded quota: ${quota.metadata.name}, requested: ${shown((key) => usage.get(key) ?? ZERO)}, used: ${shown((key) => used.get(key) ?? ZERO)}, limited: ${shown((key) => quantityOf(hard[key]))}`,
      );
    }
  };

  /** The increase of usage by an update. */
  #growth(definition: ResourceDefinition, namespace: string, name: string, item: KubeObject): Usage {
    const resource = resourceName(definition);
    const old = MAY_GROW.has(resource) ? this.operations.store.get(definition.table, storeKey(namespace, name)) : undefined;
    if (old === undefined) return NOTHING;
    const before = usageOf(resource, old);
    const growth = [...usageOf(resource, item)].map(([key, amount]) => [key, subtract(amount, before.get(key) ?? ZERO)] as const);
    return new Map(growth.filter(([, { nano }]) => nano > 0n));
  }

  /** The usage of some of the quota's resources by all objects of its namespace. */
  #used(quota: KubeObject, keys: readonly string[]): Map<string, Quantity> {
    const used = new Map<string, Quantity>();
    const seen = new Set<string>();
    for (const definition of this.#counted(keys)) {
      if (seen.has(definition.table)) continue;
      seen.add(definition.table);
      const resource = resourceName(definition);
      for (const item of this.operations.store.list(definition.table, quota.metadata.namespace ?? '')) {
        if (!inScope(quota, resource, item)) continue;
        const usage = usageOf(resource, item);
        for (const key of keys) {
          const amount = usage.get(key);
          if (amount !== undefined) used.set(key, add(used.get(key) ?? ZERO, amount));
        }
      }
    }
    return used;
  }

  /** The kinds that any of these resource names may count. */
  #counted(keys: readonly string[]): ResourceDefinition[] {
    return this.registry.all().filter((definition) => {
      const resource = resourceName(definition);
      if (!definition.namespaced || definition.view !== undefined) return false;
      if (keys.includes(`count/${resource}`) || keys.includes(resource)) return true;
      if (resource === 'pods')
        return keys.some((key) => COMPUTE.has(key) || /^(?:requests|limits)\./.test(key) || key === 'ephemeral-storage');
      if (resource === 'services') return keys.some((key) => key.startsWith('services'));
      return resource === 'persistentvolumeclaims' && keys.some((key) => key.includes('storage'));
    });
  }

  protected override onEvent({ object: { metadata } }: StoreEvent): void {
    const { store } = this.operations;
    if (metadata.namespace === undefined || store.count(TABLE) === 0) return;
    if (store.list(TABLE, metadata.namespace).length > 0) this.enqueue(metadata.namespace);
  }

  protected override reconcile(namespace: string): void {
    for (const quota of this.operations.store.list(TABLE, namespace)) this.#tell(quota);
  }

  #tell(quota: KubeObject): void {
    const hard = object(at(quota, 'spec', 'hard'));
    const keys = Object.keys(hard);
    const known = new Set(
      this.registry.all().flatMap((definition) => (definition.namespaced ? [`count/${resourceName(definition)}`] : [])),
    );
    const amounts = this.#used(quota, keys);
    const used: JsonObject = {};
    for (const key of keys)
      if (amounts.has(key) || !key.startsWith('count/') || known.has(key)) used[key] = formatQuantity(amounts.get(key) ?? ZERO);
    const status: JsonObject = { hard: { ...hard }, used };
    if (equal(status, quota['status'])) return;
    const { namespace = '', name } = quota.metadata;
    this.operations.store.put(TABLE, storeKey(namespace, name), { ...quota, status });
  }
}

/** Resources that the quota limits and containers do not name: `limits.cpu for: main; requests.cpu for: main`. */
function unstated(pod: KubeObject, hard: JsonObject): string {
  const containers: Json[] = [...list(at(pod, 'spec', 'containers')), ...list(at(pod, 'spec', 'initContainers'))];
  return Object.keys(hard)
    .filter((key) => COMPUTE.has(key))
    .sort()
    .flatMap((key) => {
      const [kind, name] = key.includes('.') ? (key.split('.') as [string, string]) : ['requests', key];
      const silent = containers
        .filter((container) => at(container, 'resources', kind, name) === undefined)
        .map((container) => text(at(container, 'name')));
      return silent.length === 0 ? [] : [`${key} for: ${silent.sort().join(',')}`];
    })
    .join('; ');
}
