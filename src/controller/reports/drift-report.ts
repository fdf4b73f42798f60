/** Reports drift: a log line with both states, an Event on the row owner, a metric. Limited in rate. */
import type { Drift } from '../../diff/drift.ts';
import { driftSentence, repairSentence } from '../../diff/drift.ts';
import type { PlannedEvent } from '../../diff/condition-diff.ts';
import type { Clock } from '../../timing/clock.ts';
import { TokenBucket } from '../../kube/fairness/token-bucket.ts';
import { identityOf, tableOf } from '../../nb/row-id.ts';
import type { Log } from '../../runtime/log.ts';
import type { MetricSink } from '../../runtime/metrics.ts';
import type { ResourceName } from '../../world/resources.ts';
import { resourceOfKind } from '../../world/resources.ts';

/** Log lines: burst, and rate a second. */
const BURST = 20;
const RATE = 1;

export interface DriftReportOptions {
  readonly log: Log;
  readonly metrics: MetricSink | undefined;
  readonly clock: Clock;
  readonly event: (resource: ResourceName, namespace: string, name: string, uid: string | undefined, event: PlannedEvent) => void;
}

export class DriftReport {
  readonly #options: DriftReportOptions;
  readonly #tokens: Readonly<Record<'found' | 'repaired', TokenBucket>>;
  /** Drift without a log line since the last one. */
  #unreported = 0;

  constructor(options: DriftReportOptions) {
    this.#options = options;
    const now = options.clock.now();
    this.#tokens = { found: new TokenBucket(BURST, RATE, now), repaired: new TokenBucket(BURST, RATE, now) };
  }

  report(drifts: readonly Drift[], repaired: boolean): void {
    for (const drift of drifts) {
      if (repaired) this.#options.metrics?.count('kiln_drift_repaired_total', { table: tableOf(drift.id), kind: drift.difference });
      this.#reportOne(drift, repaired);
    }
  }

  #reportOne(drift: Drift, repaired: boolean): void {
    const { log, clock } = this.#options;
    if (!this.#tokens[repaired ? 'repaired' : 'found'].take(clock.now())) {
      this.#unreported++;
      return;
    }
    const fields = {
      table: tableOf(drift.id),
      row: identityOf(drift.id),
      owner: drift.owner,
      kind: drift.difference,
      before: drift.before,
      after: drift.after,
      ...(this.#unreported === 0 ? {} : { suppressed: this.#unreported }),
    };
    this.#unreported = 0;
    if (repaired) log.info('drift repaired', fields);
    else log.warn('drift: another program changed a row', fields);
    this.#event(
      drift,
      repaired
        ? { type: 'Normal', reason: 'Repaired', message: repairSentence(drift) }
        : { type: 'Warning', reason: 'Drifted', message: driftSentence(drift) },
    );
  }

  #event({ owner, uid }: Drift, event: PlannedEvent): void {
    if (owner === undefined) return;
    const [kind = '', namespace = '', ...name] = owner.split('/');
    const resource = resourceOfKind(kind);
    if (resource !== undefined) this.#options.event(resource, namespace, name.join('/'), uid, event);
  }
}
