/** No more than a few pods are asked to leave at a time by one process, however many are in the wrong place: whatever their disruption budgets allow. */
import type { KubeRequest } from '../../src/kube/transport.ts';
import { parseTarget } from '../../src/lab/apiserver/request.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';

/** As docs/operate.md has it. */
const MOST = 5;
/** A pod that takes longer gives up its place after a minute. */
const PATIENCE_MS = 59_000;

export class EvictionsUnderWay {
  readonly #store: ObjectStore;
  readonly #now: () => number;
  /** Who asked, when and whom, by path. */
  readonly #asked = new Map<string, { readonly process: string; readonly at: number; readonly pod: string; readonly uid: string }>();

  /** @param now milliseconds */
  constructor(store: ObjectStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** @param process of this start. @returns what is wrong, as the rest of a sentence */
  sent(process: string, { method, path }: KubeRequest): string | undefined {
    const [bare = ''] = path.split('?');
    const target = method === 'POST' && bare.endsWith('/eviction') ? parseTarget(bare) : undefined;
    if (target === undefined) return undefined;
    const pod = `${target.namespace}/${target.name}`;
    const uid = this.#uidOf(pod);
    if (uid === undefined) return undefined;
    for (const [one, asked] of this.#asked)
      if (this.#now() - asked.at > PATIENCE_MS || this.#uidOf(asked.pod) !== asked.uid) this.#asked.delete(one);
    this.#asked.set(path, { process, at: this.#now(), pod, uid });
    const leaving = [...this.#asked.values()].filter((asked) => asked.process === process).length;
    return leaving > MOST ? `asks pod ${pod} to leave, the ${leaving}th at a time` : undefined;
  }

  /** It stays. */
  failed({ path }: KubeRequest): void {
    this.#asked.delete(path);
  }

  #uidOf(pod: string): string | undefined {
    return this.#store.get('pods', pod)?.metadata.uid;
  }
}
