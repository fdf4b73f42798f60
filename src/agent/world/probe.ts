/** What kubelet asks of a pod over the network: its probes, and the requests of its lifecycle hooks. */

export type Probe = HttpProbe | TcpProbe | GrpcProbe;

export interface HttpProbe {
  readonly kind: 'http';
  readonly port: number;
  readonly tls: boolean;
  /** As the pod has it; kubelet puts a slash before it where there is none. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface TcpProbe {
  readonly kind: 'tcp';
  readonly port: number;
  readonly periodMs: number;
}

export interface GrpcProbe {
  readonly kind: 'grpc';
  readonly port: number;
}

/** Where kubelet's connections to an address and a port of pods end. */
export interface ProbeListener {
  readonly address: string;
  readonly port: number;
  /** Of the node's loopback interface. */
  readonly local: number;
  /** False: a connection is refused, as no pod has the port open. */
  readonly open: boolean;
}

/** Key of table `kubelet`, and of `failures` where none is known. */
export const KUBELET = "kubelet's connections";

/** What tells kubelet's connections from those of every other program of the node. */
export type KubeletMark =
  /** Its cgroup of version 2. */
  | {
      readonly kind: 'cgroup';
      /** Below its mount, without the slash: `system.slice/kubelet.service`. */
      readonly path: string;
      /** Where `nft` finds it, from `/sys/fs/cgroup`. */
      readonly file: string;
      /** Of the folder: the kernel knows the cgroup by it, and one that is made again has another. */
      readonly id: string;
      /** Of cgroups: newer kernels count levels from the root of that of the program which makes the rule. */
      readonly namespace: string;
    }
  /** Its class of cgroups of version 1 (`net_cls`). */
  | { readonly kind: 'class'; readonly id: number }
  /** Nothing: then nobody's connections are led. */
  | { readonly kind: 'none'; readonly reason: string };

/** Why a pod's probes reach nobody, for people. @param owner as words */
export function unprobedText({ pod, address, owner }: { readonly pod: string; readonly address: string; readonly owner: string }): string {
  return `kubelet cannot probe pod ${pod}: its address ${address} is in ${owner} as well; give it an address of its own, or a probe of kind exec`;
}
