/** The names that a ProviderNetwork has on a node: of its bridge, and of the node's interface in it. */
import type { ProviderNetworkSpec } from '../../../api/kinds/provider-network.ts';
import { interfaceOn, providerBridge } from '../resource/node-network.ts';

export interface NetworkPlace {
  readonly network: string;
  /** The node's interface, as the spec names it. */
  readonly uplink: string;
  readonly bridge: string;
  /** What the interface is called while it is in the bridge. */
  readonly port: string;
  /** The interface is made if it is missing. */
  readonly made: boolean;
}

export function placeOf(network: string, spec: ProviderNetworkSpec, node: string): NetworkPlace {
  const [uplink, bridge] = [interfaceOn(spec, node), providerBridge(network)];
  const made = spec.autoCreateVlanSubinterfaces === true;
  return spec.exchangeLinkName === true
    ? { network, uplink, bridge: uplink, port: bridge, made }
    : { network, uplink, bridge, port: uplink, made };
}
