/** Retries requests to an API server that is unreachable or overloaded until a deadline, and reports this once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeError } from '../../kube/errors.ts';
import { isKubeError } from '../../kube/errors.ts';

/** Between two attempts. */
const PAUSE_MS = 1_000;

export class RequestRetry {
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

  /** How long to wait before another look or attempt, in milliseconds. */
  get pauseMs(): number {
    return Math.min(PAUSE_MS, Math.max(this.#until - performance.now(), 1));
  }

  /** The present error of the API server. */
  get trouble(): KubeError | undefined {
    return this.#trouble;
  }

  /** @param trouble the error of the latest request; undefined if it succeeded */
  note(trouble: KubeError | undefined): void {
    if (trouble !== undefined && this.#trouble === undefined)
      this.#say(`the API server does not accept requests now; the command retries: ${trouble.code}: ${trouble.message}`);
    this.#trouble = trouble;
  }

  /** @param ask a request that can be repeated safely */
  async run<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const answer = await ask();
        this.note(undefined);
        return answer;
      } catch (error) {
        if (!isRetryable(error) || this.isOver) throw error;
        this.note(error);
      }
      await sleep(this.pauseMs);
    }
  }
}

/** Whether the API server is unreachable or overloaded. */
export function isRetryable(error: unknown): error is KubeError {
  return isKubeError(error) && error.retryable && error.code !== 'KUBE_UNAUTHORIZED';
}
