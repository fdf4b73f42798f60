/** One line of a benchmark's result. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The target: `≤ 60`, `≥ 600`. */
  readonly aim?: string;
}
