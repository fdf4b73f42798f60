/** Stands for `laboratory.ts` in a built program, which has no laboratory. */
import type { LaboratoryPackage } from './laboratory.ts';

export function laboratoryPackage(): Promise<LaboratoryPackage | undefined> {
  return Promise.resolve(undefined);
}
