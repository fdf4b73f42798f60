import { setTimeout as sleep } from 'node:timers/promises';
import { isKubeError } from '../../src/kube/errors.ts';

const RETRY_MS = 500;

/** Keys of objects that have to be looked at, one at a time; each is in it once. What the API server refuses is tried again. */
export class KeyQueue {
  readonly #look: (key: string) => Promise<void>;
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;

  /** @param look may throw a KubeError; any other error is thrown on */
  constructor(look: (key: string) => Promise<void>) {
    this.#look = look;
  }

  add(key: string): void {
    if (this.#stop.signal.aborted) return;
    this.#waiting.add(key);
    this.#start();
  }

  /** Nothing is looked at any more. @returns when what is under way has ended */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#waiting.clear();
    await this.#working;
  }

  #start(): void {
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
      if (this.#waiting.size > 0) this.#start();
    });
  }

  async #work(): Promise<void> {
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      try {
        await this.#look(key);
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (!isKubeError(error)) throw error;
        await sleep(RETRY_MS, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
        this.add(key);
      }
    }
  }
}
