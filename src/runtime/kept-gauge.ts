/**
 * A gauge of very many samples of which few change between two scrapes: the text of each part of it (all samples of one Subnet, say) is kept,
 * and made anew when that part changes. A scrape only puts the parts together.
 */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class KeptGauge {
  readonly #name: string;
  readonly #head: string;
  readonly #parts = new Map<string, string>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#head = `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n`;
  }

  /** Puts samples in the place of those that the part had. */
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
