/**
 * The laboratory is a package beside the product, in `lab`. This is its only import, and it runs when a laboratory is started: a controller
 * on a cluster never loads it, and the image does not contain it.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const loaded = () => import('../../../lab/index.ts');

export type LaboratoryPackage = Awaited<ReturnType<typeof loaded>>;
export type Laboratory = InstanceType<LaboratoryPackage['Laboratory']>;

/** Undefined in an installation without the laboratory. */
export async function laboratoryPackage(): Promise<LaboratoryPackage | undefined> {
  return existsSync(fileURLToPath(new URL('../../../lab/index.ts', import.meta.url))) ? loaded() : undefined;
}
