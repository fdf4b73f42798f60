/** The programs of a node: Debian's packages, and what the set-up builds from Go modules. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from '../programs/executable.ts';
import { findKubernetesProgram } from '../programs/kubernetes.ts';
import { findCoredns } from '../programs/coredns.ts';
import { whyNoPackets } from '../node/requirements.ts';

/** Programs of the host that kubelet, kube-proxy and containerd call, or that are in images. */
const PACKAGED = ['containerd', 'ctr', 'runc', 'conntrack', 'socat', 'iptables', 'busybox', 'unshare', 'setpriv'] as const;
/** Where the reference plugins of CNI are: Debian's, then others'. */
const PLUGIN_FOLDERS = ['/usr/lib/cni', '/opt/cni/bin', '/usr/libexec/cni'] as const;
/** Called by containerd and by our configuration. */
export const REFERENCE_PLUGINS = ['loopback', 'portmap'] as const;

export interface NodePrograms {
  readonly kubelet: string;
  readonly kubeProxy: string;
  readonly coredns: string;
  readonly busybox: string;
  readonly containerd: string;
  /** The folder of the reference plugins. */
  readonly plugins: string;
}

/** Finds all of them, or says in one sentence which are missing. */
export function findNodePrograms(): NodePrograms | string {
  const why = whyNoPackets();
  if (why !== undefined) return why;
  const plugins = PLUGIN_FOLDERS.find((folder) => REFERENCE_PLUGINS.every((name) => existsSync(join(folder, name))));
  const built = {
    kubelet: findKubernetesProgram('kubelet'),
    'kube-proxy': findKubernetesProgram('kube-proxy'),
    'kube-scheduler': findKubernetesProgram('kube-scheduler'),
    coredns: findCoredns(),
    'CNI plugins loopback and portmap': plugins,
  };
  const missing = [
    ...PACKAGED.filter((program) => onPath(program) === undefined),
    ...Object.entries(built).flatMap(([name, path]) => (path === undefined ? [name] : [])),
  ];
  const { kubelet, 'kube-proxy': kubeProxy, coredns } = built;
  const [busybox, containerd] = [onPath('busybox'), onPath('containerd')];
  if (missing.length > 0 || !kubelet || !kubeProxy || !coredns || !busybox || !containerd || !plugins)
    return `a cluster of containers needs ${missing.join(', ')}: run \`node scripts/setup.mjs cluster\``;
  return { kubelet, kubeProxy, coredns, busybox, containerd, plugins };
}
