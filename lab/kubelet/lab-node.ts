import type { KubeObject } from '../../src/kube/resource.ts';

/** A simulated node of the laboratory. */
export interface LabNode {
  readonly name: string;
  /** Its InternalIP addresses, at most one for each family. */
  readonly addresses: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** `count` nodes named `node-1`, … with addresses outside of Kube-OVN's default networks. */
export function labNodes(count: number, dualStack = false): LabNode[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `node-${index + 1}`;
    const host = index + 2;
    const v4 = `172.18.${host >> 8}.${host & 255}`;
    return {
      name,
      addresses: dualStack ? [v4, `fd18::${host.toString(16)}`] : [v4],
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
    };
  });
}

interface NodeObject extends KubeObject {
  readonly spec: object;
  readonly status: NodeStatus;
}

interface NodeStatus {
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  readonly conditions: readonly object[];
  readonly [field: string]: unknown;
}

/** The Node object of a ready node. */
export function nodeObject({ name, addresses, labels }: LabNode, now: string): NodeObject {
  const resources = { cpu: '8', memory: '32Gi', pods: '10000' };
  const condition = { lastHeartbeatTime: now, lastTransitionTime: now };
  return {
    metadata: { name, labels } as KubeObject['metadata'],
    spec: {},
    status: {
      addresses: [...addresses.map((address) => ({ type: 'InternalIP', address })), { type: 'Hostname', address: name }],
      conditions: [
        { type: 'Ready', status: 'True', reason: 'StandInKubelet', message: 'the stand-in kubelet plays this node', ...condition },
      ],
      capacity: resources,
      allocatable: resources,
      nodeInfo: {
        ...{ architecture: 'amd64', operatingSystem: 'linux', osImage: 'none', kernelVersion: 'none' },
        ...{ machineID: name, systemUUID: name, bootID: name },
        ...{ kubeletVersion: 'v0.0.0-stand-in', kubeProxyVersion: '', containerRuntimeVersion: 'none://0' },
      },
    },
  };
}
