/** One line of a benchmark's result. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}
