import {
  findKubernetesProgram,
  KUBERNETES_BUILDS,
  kubernetesBuildDirectory,
  type KubernetesBuildName,
} from '../../lab/programs/kubernetes.ts';
import { installPackages } from './debian.ts';
import { buildOldestKubernetes, requireSources } from './kubernetes-debian-build.ts';
import { buildCurrentKubernetes, requireGo } from './kubernetes-go-build.ts';
import { makeOnce } from './make-once.ts';
import { progress, SetupError } from './report.ts';

/** kubectl of any version: from PATH, else Debian's. */
export async function setUpKubectl(): Promise<void> {
  if (findKubernetesProgram('kubectl') === undefined) await installPackages(['kubernetes-client'], 'kubectl');
}

/**
 * etcd, kube-apiserver and kube-controller-manager: found, else built, once for each machine: a current release if there is Go, else the
 * oldest supported one from Debian's sources.
 */
export async function setUpKubernetes(): Promise<void> {
  if (isThere()) return await setUpEtcd();
  try {
    requireGo();
    await makeOnce(kubernetesBuildDirectory('current'), buildCurrentKubernetes);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    const { version } = KUBERNETES_BUILDS.oldest;
    progress(`${error.message}\ntests run on Kubernetes ${version} of Debian 12's sources instead`);
    await setUpOldestKubernetes();
  }
}

/** The oldest release that Kiln supports, beside the current one: for tests that run on both. */
export async function setUpOldestKubernetes(): Promise<void> {
  await setUpEtcd();
  if (isThere('oldest')) return;
  requireSources();
  await makeOnce(kubernetesBuildDirectory('oldest'), buildOldestKubernetes);
}

async function setUpEtcd(): Promise<void> {
  if (findKubernetesProgram('etcd') === undefined) await installPackages(['etcd-server'], 'etcd');
}

/** Whether the programs of one build exist. Without a name: whether tests find a current build, or programs of the machine's own. */
function isThere(build?: KubernetesBuildName): boolean {
  const found = (wanted?: KubernetesBuildName): readonly (string | undefined)[] =>
    (['kube-apiserver', 'kube-controller-manager'] as const).map((program) =>
      findKubernetesProgram(program, { ...process.env, ...(wanted === undefined ? {} : { TEST_KUBERNETES: wanted }) }),
    );
  const isWhole = (paths: readonly (string | undefined)[]): boolean => !paths.includes(undefined);
  if (build !== undefined) return isWhole(found(build));
  const oldest = kubernetesBuildDirectory('oldest');
  return isWhole(found('current')) || (isWhole(found()) && !found().some((path) => path?.startsWith(oldest)));
}
