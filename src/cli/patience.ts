/** What is asked of an API server that may be away, or overloaded, for a while: it is asked again until a deadline, and that is said once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeError } from '../kube/errors.ts';
import { isKubeError } from '../kube/errors.ts';

/** Between two tries. */
const PAUSE_MS = 1_000;

export class Patience {
  readonly #until: number;
  readonly #say: (text: string) => void;
  #trouble: KubeError | undefined;

  constructor(timeoutMs: number, say: (text: string) => void) {
    this.#until = performance.now() + timeoutMs;
    this.#say = say;
  }

  get isOver(): boolean {
    return performance.now() > this.#until;
  }

  /** How long to wait before another look or another try, in milliseconds. */
  get pauseMs(): number {
    return Math.min(PAUSE_MS, Math.max(this.#until - performance.now(), 1));
  }

  /** What the API server does not do for the moment. */
  get trouble(): KubeError | undefined {
    return this.#trouble;
  }

  /** @param trouble why it could not be had now; undefined when it was answered */
  note(trouble: KubeError | undefined): void {
    if (trouble !== undefined && this.#trouble === undefined)
      this.#say(`the API server does not take it now, it is asked again: ${trouble.code}: ${trouble.message}`);
    this.#trouble = trouble;
  }

  /** @param ask what may be asked for any number of times */
  async of<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const answer = await ask();
        this.note(undefined);
        return answer;
      } catch (error) {
        if (!isPassing(error) || this.isOver) throw error;
        this.note(error);
      }
      await sleep(this.pauseMs);
    }
  }
}

/** The API server is away, or overloaded. */
export function isPassing(error: unknown): error is KubeError {
  return isKubeError(error) && error.retryable && error.code !== 'KUBE_UNAUTHORIZED';
}
