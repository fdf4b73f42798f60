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
