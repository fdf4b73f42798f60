/**
 * Networks that a pod is not attached to any more: it is told of none of them, and of each only until its port is gone, with all that was said of it. Read from
 * its annotations, by no rule.
 */
import { parseProvider } from '../../src/api/names.ts';
import { parseNetworkSelections } from '../../src/api/pod/network-selection.ts';
import { annotationKey, DEFAULT_PROVIDER } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../src/lab/apiserver/store.ts';
import type { Field } from './holders.ts';
import type { Finding } from './judge.ts';

const ALLOCATED = '.kubernetes.io/allocated';
const SELECTING = [annotationKey.defaultNetworkAttachment, annotationKey.networkAttachments] as const;

type RowOf = (uid: string, name?: string, table?: string) => string | undefined;

export class Unplugged {
  readonly #store: ObjectStore;
  readonly #rowOf: RowOf;
  readonly #findings: Finding[] = [];

  /**
   * @param rowOf a port of this name that says it is of the pod with this uid
   * @param byHand whether a person acts now
   */
  constructor(store: ObjectStore, rowOf: RowOf, byHand: () => boolean) {
    this.#store = store;
    this.#rowOf = rowOf;
    store.watchAll((event) => {
      if (event.table === 'pods' && event.type === 'MODIFIED' && !byHand()) this.#look(event);
    });
  }

  judge(): readonly Finding[] {
    return [...this.#findings.splice(0), ...this.#store.list('pods').flatMap((pod) => this.#toldStill(pod))];
  }

  /** A controller takes back what it said of a network. */
  #look({ object, previous }: StoreEvent): void {
    if (previous === undefined) return;
    const { name, namespace = '', uid, annotations = {} } = object.metadata;
    for (const provider of providersOf(previous)) {
      if (provider === DEFAULT_PROVIDER || annotations[provider + ALLOCATED] !== undefined) continue;
      const left = Object.keys(annotations).find((key) => key.startsWith(`${provider}.kubernetes.io/`));
      const port = `${name}.${namespace}.${provider}`;
      if (left !== undefined) this.#find(object, `annotation ${left} is left of a network that it is told no more of`);
      if (this.#rowOf(uid, port) !== undefined) this.#find(object, `port ${port} is there, and it is told no more of its network`);
    }
  }

  #toldStill(pod: KubeObject): readonly Finding[] {
    const told = providersOf(pod);
    const { annotations = {}, namespace = '', deletionTimestamp } = pod.metadata;
    const { phase } = (pod['status'] ?? {}) as Field;
    const isOwn = annotations[annotationKey.defaultNetworkAttachment] === undefined;
    if (told.length === 0 || deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed') return [];
    if (isOwn && told.length === 1 && told[0] === DEFAULT_PROVIDER) return [];
    const attached = new Set<string>();
    for (const key of SELECTING) {
      const parsed = parseNetworkSelections(annotations[key] ?? '', namespace);
      // What nobody can read takes no network away.
      if (!parsed.ok) return [];
      for (const one of parsed.selections) attached.add(`${one.namespace}/${one.name}`);
    }
    return told.flatMap((provider) => {
      const parsed = parseProvider(provider);
      const isAttached =
        parsed.kind === 'attachment' || parsed.kind === 'ipam-only' ? attached.has(`${parsed.namespace}/${parsed.nad}`) : isOwn;
      return isAttached ? [] : [this.#finding(pod, `network ${provider} is told to it, and it is not attached to that`)];
    });
  }

  #find(pod: KubeObject, what: string): void {
    this.#findings.push(this.#finding(pod, what));
  }

  #finding({ metadata: { name, namespace = '' } }: KubeObject, what: string): Finding {
    return { kind: `I7 unplugged ${what.split(' ')[0] ?? ''}`, message: `I7: Pod ${namespace}/${name}: ${what}` };
  }
}

/** Of its networks that it is told to have. */
function providersOf({ metadata: { annotations = {} } }: KubeObject): readonly string[] {
  return Object.keys(annotations).flatMap((key) =>
    key.endsWith(ALLOCATED) && annotations[key] === 'true' ? [key.slice(0, -ALLOCATED.length)] : [],
  );
}
