/**
 * A gauge with many samples of which few change between two scrapes. The text of each part (for example all samples of one Subnet) is
 * cached and rebuilt when that part changes. A scrape only joins the parts.
 */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class CachedGauge {
  readonly #name: string;
  readonly #head: string;
  readonly #parts = new Map<string, string>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#head = `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n`;
  }

  /** Replaces the samples of a part. */
  set(part: string, samples: readonly Sample[]): void {
    if (samples.length === 0) this.#parts.delete(part);
    else this.#parts.set(part, samples.map((sample) => this.#line(sample)).join(''));
  }

  /** In Prometheus' text format. */
  text(): string {
    return this.#head + [...this.#parts.values()].join('');
  }

  #line({ labels, value }: Sample): string {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${this.#name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}\n`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
