/** The reports that rules emit. */
import type { ReportOutput } from './output.ts';
import type { DesiredPart } from '../engine/outputs.ts';

export class DesiredReports implements DesiredPart<ReportOutput> {
  readonly kinds = ['report'] as const;
  readonly all = new Set<ReportOutput>();
  /** Those that were not sent yet. */
  readonly fresh = new Set<ReportOutput>();

  nameOf(output: ReportOutput): string {
    return output.key;
  }

  add(output: ReportOutput): void {
    this.all.add(output);
    this.fresh.add(output);
  }

  remove(output: ReportOutput): void {
    this.all.delete(output);
    this.fresh.delete(output);
  }
}
