import { setTimeout as sleep } from 'node:timers/promises';
import { isKubeError } from '../../src/kube/errors.ts';

const RETRY_MS = 500;

/** Keys of objects to process, one at a time; each key is queued once. A key whose request the API server rejected is retried. */
export class KeyQueue {
  readonly #look: (key: string) => Promise<void>;
  readonly #waiting = new Set<string>();
  readonly #stop = new AbortController();
  #working: Promise<void> | undefined;

  /** @param look may throw a KubeError; any other error is passed on */
  constructor(look: (key: string) => Promise<void>) {
    this.#look = look;
  }

  add(key: string): void {
    if (this.#stop.signal.aborted) return;
    this.#waiting.add(key);
    this.#start();
  }

  /** Stops processing. @returns when the current key is done */
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
