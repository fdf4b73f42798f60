/** The configurations of the programs on a node. JSON is YAML. */
import { writeFile } from 'node:fs/promises';

export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
export const DNS_DOMAIN = 'cluster.local';

/** How kube-proxy carries out Services. */
export const PROXY_MODES = ['iptables', 'nftables'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];

export interface ContainerdFolders {
  readonly sandboxImage: string;
  readonly binaries: string;
  readonly configurations: string;
}

export async function writeContainerdConfiguration(file: string, folders: ContainerdFolders): Promise<void> {
  const cri = '[plugins."io.containerd.grpc.v1.cri"';
  const text = [
    'version = 2',
    'root = "/var/lib/containerd"',
    'state = "/run/containerd"',
    '[grpc]',
    `address = "${CONTAINERD_SOCKET}"`,
    `${cri}]`,
    `sandbox_image = "${folders.sandboxImage}"`,
    // A container has not the right to lower the score, and most need no profile.
    'restrict_oom_score_adj = true',
    'disable_apparmor = true',
    `${cri}.containerd]`,
    'snapshotter = "native"',
    `${cri}.cni]`,
    `bin_dir = "${folders.binaries}"`,
    `conf_dir = "${folders.configurations}"`,
  ];
  await writeFile(file, `${text.join('\n')}\n`);
}

export interface KubeletSettings {
  readonly clientAuthority: string;
  readonly resolvConf: string;
  readonly dnsAddresses: readonly string[];
}

export async function writeKubeletConfiguration(file: string, settings: KubeletSettings): Promise<void> {
  const { clientAuthority, resolvConf, dnsAddresses } = settings;
  const configuration = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: clientAuthority } },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    cgroupDriver: 'cgroupfs',
    // The machine's own cgroup is the limit.
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    oomScoreAdj: 0,
    failSwapOn: false,
    clusterDNS: dnsAddresses,
    clusterDomain: DNS_DOMAIN,
    resolvConf,
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    // Images come from no registry: none is deleted, and a full disk of the host drains no node.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '0%', 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', 'imagefs.available': '0%' },
    serializeImagePulls: false,
  };
  await writeFile(file, JSON.stringify(configuration, undefined, 2));
}

export interface ProxySettings {
  readonly kubeconfig: string;
  readonly node: string;
  readonly mode: ProxyMode;
}

export async function writeProxyConfiguration(file: string, { kubeconfig, node, mode }: ProxySettings): Promise<void> {
  const configuration = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    hostnameOverride: node,
    mode,
    // Limits of the whole kernel, which is the host's.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    oomScoreAdj: 0,
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  };
  await writeFile(file, JSON.stringify(configuration, undefined, 2));
}
