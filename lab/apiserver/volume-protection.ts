/** Keeps claims until no pod uses them, and volumes until no claim uses them; makes a new volume `Available`. */
import { CLAIM_PROTECTION, VOLUME_PROTECTION } from './builtin/storage.ts';
import { at, list, object } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import type { StoreEvent } from './store.ts';
import { StoreController } from './store-controller.ts';
import { storeKey } from './store.ts';

const CLAIMS = 'persistentvolumeclaims';
const VOLUMES = 'persistentvolumes';

export class VolumeProtection extends StoreController {
  constructor(operations: Operations, registry: ResourceRegistry) {
    super(operations, registry);
    for (const table of [CLAIMS, VOLUMES])
      for (const { metadata } of operations.store.list(table))
        this.enqueue(`${table}/${storeKey(metadata.namespace ?? '', metadata.name)}`);
  }

  protected override onEvent({ type, table, object: item }: StoreEvent): void {
    const { namespace = '', name } = item.metadata;
    if (table === CLAIMS || table === VOLUMES) {
      if (type !== 'DELETED') this.enqueue(`${table}/${storeKey(namespace, name)}`);
    } else if (table === 'pods' && this.operations.store.count(CLAIMS) > 0) {
      for (const claim of claimsOf(item)) this.enqueue(`${CLAIMS}/${storeKey(namespace, claim)}`);
    }
  }

  /** @param place `<table>/<key>` */
  protected override reconcile(place: string): void {
    const [table = '', ...key] = place.split('/');
    const item = this.operations.store.get(table, key.join('/'));
    if (item !== undefined) this.#see(table, item);
  }

  #see(table: string, item: KubeObject): void {
    const definition = this.registry.find('', 'v1', table);
    if (definition === undefined) return;
    const { namespace = '', name, deletionTimestamp, finalizers = [] } = item.metadata;
    const phase = at(item, 'status', 'phase');
    if (deletionTimestamp === undefined) {
      if (table === VOLUMES && phase === 'Pending')
        this.operations.update(definition, '', name, (now) => ({ ...now, status: { ...object(now['status']), phase: 'Available' } }), {
          subresource: 'status',
        });
      return;
    }
    const protection = table === CLAIMS ? CLAIM_PROTECTION : VOLUME_PROTECTION;
    const used = table === CLAIMS ? this.#hasPods(namespace, name) : phase === 'Bound';
    if (used || !finalizers.includes(protection)) return;
    this.operations.update(definition, namespace, name, (now) => ({
      ...now,
      metadata: { ...now.metadata, finalizers: finalizers.filter((finalizer) => finalizer !== protection) },
    }));
  }

  #hasPods(namespace: string, claim: string): boolean {
    return this.operations.store.list('pods', namespace).some((pod) => {
      const phase = at(pod, 'status', 'phase');
      return phase !== 'Succeeded' && phase !== 'Failed' && claimsOf(pod).includes(claim);
    });
  }
}

function claimsOf(pod: KubeObject): string[] {
  return list(at(pod, 'spec', 'volumes')).flatMap((volume) => {
    const claim = at(volume, 'persistentVolumeClaim', 'claimName');
    return typeof claim === 'string' ? [claim] : [];
  });
}
