/** What a cluster whose containers run needs: `npm run cluster`, and the long tests. */
import { onPath } from '../../lab/programs/executable.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { corednsBuildDirectory, findCoredns } from '../../lab/programs/coredns.ts';
import { findKubernetesProgram, kubernetesBuildDirectory } from '../../lab/programs/kubernetes.ts';
import { installPackages } from './debian.ts';
import { setUpKubectl, setUpKubernetes } from './kubernetes.ts';
import { buildCoredns, buildNodePrograms, requireGo } from './kubernetes-go-build.ts';
import { makeOnce } from './make-once.ts';
import { setUpPackets } from './packets.ts';
import { SetupError } from './report.ts';

/** By one program of each. */
const PACKAGES = {
  containerd: 'containerd',
  runc: 'runc',
  conntrack: 'conntrack',
  socat: 'socat',
  iptables: 'iptables',
  busybox: 'busybox-static',
} as const;

/** Throws a `SetupError` that says why, if this machine cannot have it. */
export async function setUpCluster(): Promise<void> {
  if (typeof findNodePrograms() !== 'string') return;
  await setUpKubectl();
  await setUpKubernetes();
  await setUpPackets();
  const packages = Object.entries(PACKAGES).flatMap(([program, name]) => (onPath(program) === undefined ? [name] : []));
  // The plugins have no name of their own in PATH.
  await installPackages([...packages, 'containernetworking-plugins'], 'what a cluster of containers needs');
  if (findKubernetesProgram('kubelet') === undefined || findKubernetesProgram('kube-proxy') === undefined) {
    requireGo();
    await makeOnce(kubernetesBuildDirectory('nodes'), buildNodePrograms);
  }
  if (findCoredns() === undefined) {
    requireGo();
    await makeOnce(corednsBuildDirectory(), buildCoredns);
  }
  const missing = findNodePrograms();
  if (typeof missing === 'string') throw new SetupError(missing);
}
