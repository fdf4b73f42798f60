import { findKubernetesProgram, kubernetesBuildDirectory, type KubernetesProgram } from '../../src/lab/programs/kubernetes.ts';
import { installPackages } from './debian.ts';
import { buildKubernetes, requireSources } from './kubernetes-build.ts';
import { makeOnce } from './make-once.ts';

/** kubectl, of any age: from PATH, else Debian's. */
export async function setUpKubectl(): Promise<void> {
  if (findKubernetesProgram('kubectl') === undefined) await installPackages(['kubernetes-client'], 'kubectl');
}

/** etcd, kube-apiserver and kube-controller-manager: found, else installed and built, once a machine. */
export async function setUpKubernetes(): Promise<void> {
  if (findKubernetesProgram('etcd') === undefined) await installPackages(['etcd-server'], 'etcd');
  const built: readonly KubernetesProgram[] = ['kube-apiserver', 'kube-controller-manager'];
  if (built.every((program) => findKubernetesProgram(program) !== undefined)) return;
  requireSources();
  await makeOnce(kubernetesBuildDirectory(), buildKubernetes);
}
