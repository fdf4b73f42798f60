/** What the rules of a node are told by its operator. */
export interface NodeSettings {
  /** The name of the Node object. */
  readonly node: string;
  /** `ovn-remote`: endpoints of the Southbound database. */
  readonly southbound: string;
  /** `geneve`, `vxlan` or `stt`. */
  readonly tunnel: string;
  /** `system`: the kernel's datapath; `netdev`: that of userspace. */
  readonly datapath: 'system' | 'netdev';
  /** Its Subnets are reached from nodes. */
  readonly defaultVpc: string;
  /** Network namespace of this node as an external gateway. Default: `GATEWAY_NAMESPACE`. */
  readonly gatewayNamespace?: string;
  /** MTU of pods whose Subnet has none. Undefined: what a tunnel leaves of that of the node's device. */
  readonly mtu: number | undefined;
}

/** As Kube-OVN names it. */
export const GATEWAY_NAMESPACE = 'ovnext';
export const INTEGRATION_BRIDGE = 'br-int';
