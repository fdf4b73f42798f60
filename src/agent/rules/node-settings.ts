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
  /** MTU of pods whose Subnet has none. Undefined: what a tunnel leaves of that of the node's device. */
  readonly mtu: number | undefined;
}

export const INTEGRATION_BRIDGE = 'br-int';
