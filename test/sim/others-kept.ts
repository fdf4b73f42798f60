/**
 * What others wrote on objects is theirs: no controller takes away their finalizers, labels, annotations or conditions. Told by the domain in
 * their names; read from writes of the API server, by no rule.
 */
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Finding } from './judge.ts';

/** Begins whatever another program writes on an object. */
export const OTHERS_DOMAIN = 'example.com/';

export class OthersKept {
  readonly #findings: Finding[] = [];

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    store.watchAll(({ type, object, previous }) => {
      if (type !== 'MODIFIED' || previous?.metadata.uid !== object.metadata.uid || byHand()) return;
      const before = theirs(previous);
      if (before.length === 0) return;
      const after = new Set(theirs(object));
      for (const one of before)
        if (!after.has(one))
          this.#findings.push({
            kind: `I4 ${one.split(' ')[0] ?? ''}`,
            message: `I4: ${object.kind} ${object.metadata.name} had ${one} of another program, and a controller took it away`,
          });
    });
  }

  judge(): readonly Finding[] {
    return this.#findings.splice(0);
  }
}

function theirs(object: KubeObject): readonly string[] {
  const { finalizers = [], labels = {}, annotations = {} } = object.metadata;
  const { conditions = [] } = (object['status'] ?? {}) as { readonly conditions?: readonly { readonly type?: string }[] };
  const isTheirs = (name: string): boolean => name.startsWith(OTHERS_DOMAIN);
  return [
    ...finalizers.filter(isTheirs).map((one) => `finalizer ${one}`),
    ...Object.entries(labels).flatMap(([key, value]) => (isTheirs(key) ? [`label ${key}=${value}`] : [])),
    ...Object.entries(annotations).flatMap(([key, value]) => (isTheirs(key) ? [`annotation ${key}=${value}`] : [])),
    ...conditions.flatMap(({ type = '' }) => (isTheirs(type) ? [`condition ${type}`] : [])),
  ];
}
