/** What the rules of a node are told by its operator. */
export { INTEGRATION_BRIDGE } from '../../api/well-known.ts';

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
  /** Networks of Services. Missing: none is known. */
  readonly serviceCidr?: string;
  /** Network namespace of this node as an external gateway. Default: `GATEWAY_NAMESPACE`. */
  readonly gatewayNamespace?: string;
  /** What the controller is told of the external gateway of the default Vpc as well. Missing: Kube-OVN's defaults. */
  readonly externalGateway?: Partial<ExternalGatewaySettings>;
  /** Another CNI plugin provides the primary interface of pods: ours makes attachments alone. */
  readonly nonPrimaryCni?: boolean;
  /** MTU of pods whose Subnet has none. Undefined: what a tunnel leaves of that of the node's device. */
  readonly mtu: number | undefined;
}

export interface ExternalGatewaySettings {
  /** Of its ConfigMap. */
  readonly namespace: string;
  /** The physical network. */
  readonly network: string;
  /** Its VLAN tag; 0 for none. */
  readonly vlan: number;
}

/** Kube-OVN's. */
export const EXTERNAL_GATEWAY: ExternalGatewaySettings = { namespace: 'kube-system', network: 'external', vlan: 0 };

export function externalGatewayOf({ externalGateway }: NodeSettings): ExternalGatewaySettings {
  return { ...EXTERNAL_GATEWAY, ...externalGateway };
}

/** As Kube-OVN names it. */
export const GATEWAY_NAMESPACE = 'ovnext';
