/** Measures turns and writes, and records the time of the last success. */
import type { TransactionReport } from '../../commit/northbound-writer.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import type { Clock } from '../../timing/clock.ts';
import type { WriteResult } from '../../kube/write/write-intent.ts';
import type { MetricSink } from '../../runtime/metrics.ts';
import { traitsOf } from '../../world/resources.ts';

export class TurnMeter {
  readonly #metrics: MetricSink | undefined;
  readonly #clock: Clock;
  /** Whether a rule threw in this turn. */
  #failed = false;
  /** Whether nothing was left to do after the last turn, and nothing changed since. */
  #idle = false;
  #succeededAt = 0;

  constructor(metrics: MetricSink | undefined, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** Time of the last success in milliseconds since the epoch: the present while nothing is to be done; 0: never. */
  get lastSuccess(): number {
    return this.#idle ? this.#clock.wallTime() : this.#succeededAt;
  }

  /** A turn was scheduled. */
  woken(): void {
    if (this.#idle) this.#succeededAt = this.#clock.wallTime();
    this.#idle = false;
  }

  ruleFailed(rule: string): void {
    this.#failed = true;
    this.#metrics?.count('kiln_rule_failures_total', { rule });
  }

  /** @param since monotonic milliseconds. @returns now */
  phase(phase: 'compile' | 'diff', since: number): number {
    const now = this.#clock.now();
    this.#metrics?.observe('kiln_reconcile_duration_seconds', { phase }, (now - since) / 1_000);
    return now;
  }

  /** @param idle no write is pending or in flight */
  turned(converged: boolean, idle: boolean): void {
    this.#metrics?.count('kiln_reconcile_total', { result: this.#failed ? 'failed' : converged ? 'settled' : 'continued' });
    this.#failed = false;
    this.#idle = idle;
  }

  transaction({ ok, error, operations, durationMs }: TransactionReport): void {
    if (ok) this.#succeededAt = this.#clock.wallTime();
    if (durationMs === undefined) return;
    this.#metrics?.count('kiln_transaction_total', { result: ok ? 'committed' : (error?.outcome ?? 'unknown') });
    this.#metrics?.observe('kiln_transaction_operations', {}, operations);
    this.#metrics?.observe('kiln_reconcile_duration_seconds', { phase: 'commit' }, durationMs / 1_000);
  }

  written({ resource, verb }: ObjectWrite, result: WriteResult): void {
    if (result.ok) this.#succeededAt = this.#clock.wallTime();
    this.#metrics?.count('kiln_api_writes_total', { kind: traitsOf(resource).kind, verb, result: result.ok ? 'ok' : result.error.code });
  }

  paused(): void {
    this.#metrics?.count('kiln_collection_holds_total', {});
  }
}
