/** Helm, for the tests of the charts: found, else built from Go modules, once for each machine. A minute of two cores, less beside Kubernetes. */
import { findHelm, helmBuildDirectory } from '../../lab/programs/helm.ts';
import { buildHelm, requireGo } from './kubernetes-go-build.ts';
import { makeOnce } from './make-once.ts';

/** Throws a `SetupError` that says why, if this machine cannot have it. */
export async function setUpHelm(): Promise<void> {
  if (findHelm() !== undefined) return;
  requireGo('Helm');
  await makeOnce(helmBuildDirectory(), buildHelm);
}
