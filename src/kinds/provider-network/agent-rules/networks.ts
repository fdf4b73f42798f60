/**
 * The networks of the underlay that a node may be in: ProviderNetworks, and that of the external gateway, whose interface its ConfigMap names
 * (key `external-gw-nic`) for the nodes that are gateways.
 */
import { EXTERNAL_GATEWAY_CONFIG, labelKey } from '../../../api/well-known.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import { externalGatewayOf, type NodeSettings } from '../../../agent/rules/node-settings.ts';
import { commandText } from '../../../text/command-text.ts';
import type { NodeProviderNetwork } from '../agent-table.ts';

export interface NodeNetwork extends NodeProviderNetwork {
  readonly name: string;
  /** How its interface is changed. */
  readonly edit: string;
}

/** The oldest first: of two networks with one interface it has it. */
export function networksOf(world: NodeWorld, settings: NodeSettings): readonly NodeNetwork[] {
  const provided = [...world.providerNetworks.keys()].map((name): NodeNetwork => ({
    ...(world.providerNetworks.get(name) as NodeProviderNetwork),
    name,
    edit: commandText`kubectl edit provider-network ${name}`,
  }));
  const configured = configuredNetwork(world, settings);
  const all = configured === undefined || world.providerNetworks.has(configured.name) ? provided : [...provided, configured];
  return all.toSorted((a, b) => (`${a.created} ${a.uid}` < `${b.created} ${b.uid}` ? -1 : 1));
}

/** On nodes that are no gateways there is none, and nothing says so: unlike a ProviderNetwork it is for few. */
function configuredNetwork(world: NodeWorld, settings: NodeSettings): NodeNetwork | undefined {
  const { namespace, network } = externalGatewayOf(settings);
  const config = world.externalGatewayConfigs.get(`${namespace}/${EXTERNAL_GATEWAY_CONFIG}`);
  const node = world.nodes.get(settings.node);
  // Without the Node nothing is known of it.
  const isGateway = node === undefined || node.labels[labelKey.externalGateway] === 'true';
  if (config === undefined || config.nic === '' || !isGateway) return undefined;
  const { uid, created, nic } = config;
  const edit = commandText`kubectl edit configmap -n ${namespace} ${EXTERNAL_GATEWAY_CONFIG}`;
  return { uid, created, name: network, edit, spec: { defaultInterface: nic } };
}
