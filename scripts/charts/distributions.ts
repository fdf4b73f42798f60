/** Where distributions of Kubernetes have what the chart needs to know of a node. */

export interface Places {
  /** Where the container runtime looks for CNI plugins. */
  readonly cniBin: string;
  /** Where it looks for their configurations. */
  readonly cniConf: string;
  /** The label of the nodes of the control plane, whatever its value. */
  readonly nodeLabel: string;
}

const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const KUBEADM: Places = { cniBin: '/opt/cni/bin', cniConf: '/etc/cni/net.d', nodeLabel: CONTROL_PLANE };

export const DISTRIBUTIONS = {
  kubeadm: KUBEADM,
  // Since the releases of October 2024; before, data/current/bin, which each upgrade replaces.
  k3s: { cniBin: '/var/lib/rancher/k3s/data/cni', cniConf: '/var/lib/rancher/k3s/agent/etc/cni/net.d', nodeLabel: CONTROL_PLANE },
  rke2: KUBEADM,
  talos: KUBEADM,
  microk8s: {
    cniBin: '/var/snap/microk8s/current/opt/cni/bin',
    cniConf: '/var/snap/microk8s/current/args/cni-network',
    nodeLabel: 'node.kubernetes.io/microk8s-controlplane',
  },
} as const satisfies Readonly<Record<string, Places>>;
