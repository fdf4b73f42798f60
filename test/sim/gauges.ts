/** The metrics of a simulated process, without the registry: gauges are asked for when somebody looks. */
import type { KeptName, MetricName, MetricSink } from '../../src/runtime/metrics.ts';

type Samples = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
type Ask = (report: (labels: Readonly<Record<string, string>>, value: number) => void) => void;

export class Gauges implements MetricSink {
  readonly #asks = new Map<MetricName, Ask>();
  readonly #kept = new Map<MetricName, Map<string, Samples>>();

  count(): void {
    // Of what happened: nobody can tell at rest.
  }

  observe(): void {
    // Likewise.
  }

  read: MetricSink['read'] = (name, ask) => void this.#asks.set(name, ask);

  keep(name: KeptName, part: string, samples: Samples): void {
    const parts = this.#kept.get(name) ?? new Map<string, Samples>();
    this.#kept.set(name, parts.set(part, samples));
  }

  /** Values of the labels, with blanks between, to the value; what is 0 is left out. */
  shown(name: MetricName): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    const report = (labels: Readonly<Record<string, string>>, value: number): void => {
      const key = Object.values(labels).join(' ');
      if (value !== 0) found.set(key, (found.get(key) ?? 0) + value);
    };
    this.#asks.get(name)?.(report);
    for (const samples of this.#kept.get(name)?.values() ?? []) for (const { labels, value } of samples) report(labels, value);
    return found;
  }
}
