/**
 * Who names its Subnet, its pool or its address is where it asked to be: nobody tells it that its Namespace would have it elsewhere. Read from
 * what pods said when they came, by no rule.
 */
import type { Condition } from '../../src/api/kubernetes/meta.ts';
import { annotationKey, POD_CONDITION, podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Finding } from './judge.ts';

export class OwnWords {
  readonly #store: ObjectStore;
  /** Uids of pods that named something as long as they had no network. */
  readonly #naming = new Set<string>();
  /** Uids of pods that had one: what is in their annotations since is not their own word, also where somebody takes off `allocated`. */
  readonly #placed = new Set<string>();

  constructor(store: ObjectStore) {
    this.#store = store;
    store.watchAll(({ type, table, object }) => {
      if (table !== 'pods') return;
      const { uid, annotations = {} } = object.metadata;
      if (type === 'DELETED') {
        this.#naming.delete(uid);
        this.#placed.delete(uid);
      } else if (annotations[ALLOCATED] === 'true') this.#placed.add(uid);
      else if (!this.#placed.has(uid)) {
        if (names(object)) this.#naming.add(uid);
        else this.#naming.delete(uid);
      }
    });
  }

  judge(): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod): readonly Finding[] => {
      const { uid, name, namespace = '', ownerReferences = [] } = pod.metadata;
      const { conditions = [] } = (pod['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
      const told = conditions.find(({ type, reason }) => type === POD_CONDITION && reason === 'Misbound');
      // The address of an older pod may be where its Namespace put that one.
      if (told === undefined || ownerReferences.length > 0 || !this.#naming.has(uid)) return [];
      return [
        {
          kind: 'I7 own words',
          message: `I7: Pod ${namespace}/${name} itself asked to be where it is, and is told "${told.message ?? ''}"`,
        },
      ];
    });
  }
}

const ALLOCATED = podAnnotation('ovn', 'allocated');
const NAMING = [annotationKey.vip, ...(['logical_switch', 'ip_pool', 'ip_address'] as const).map((suffix) => podAnnotation('ovn', suffix))];

function names({ metadata: { annotations = {} } }: KubeObject): boolean {
  return NAMING.some((key) => (annotations[key] ?? '').trim() !== '');
}
