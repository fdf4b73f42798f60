/** ProviderNetwork: a physical network, and the interface on each node that is connected to it. */

import { column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { boolean, list, object, required, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { labelSelector, nodeConditions, strings } from '../schema/shapes.ts';

/** The interface names that Linux accepts. */
const interfaceName = { maxLength: 15, pattern: String.raw`^[^/\s]+$` } as const;

const spec = object('Desired state of the network', {
  autoCreateVlanSubinterfaces: boolean('Make VLAN interfaces that are missing'),
  customInterfaces: list(
    'Interfaces of nodes that differ',
    object('', {
      interface: string('Interface on these nodes', interfaceName),
      nodes: strings('The nodes'),
    }),
  ),
  defaultInterface: required(string('Interface on all other nodes', interfaceName)),
  exchangeLinkName: boolean('Give the bridge the name of the interface'),
  excludeNodes: strings('Nodes without this network'),
  nodeSelector: labelSelector('Nodes with this network'),
  preserveVlanInterfaces: boolean('Keep VLAN interfaces of the host working'),
  vlanInterfaces: strings('VLAN interfaces of the host'),
});

const status = object('Observed state of the network', {
  conditions: nodeConditions,
  notReadyNodes: strings('Nodes where it is not ready'),
  ready: boolean('Whether all nodes are ready'),
  readyNodes: strings('Nodes where it is ready'),
  vlans: strings('Vlans in it'),
});

export const providerNetworkKind = defineKind({
  kind: 'ProviderNetwork',
  plural: 'provider-networks',
  singular: 'provider-network',
  shortNames: ['pn'],
  scope: 'Cluster',
  description: 'A physical network and the interfaces that lead to it',
  columns: [column('DefaultInterface', '.spec.defaultInterface'), column('Ready', '.status.ready', 'boolean')],
  subresources: { status: {} },
  spec,
  status,
});

export type ProviderNetwork = ObjectOf<typeof providerNetworkKind>;
export type ProviderNetworkSpec = TypeOf<typeof spec>;
export type ProviderNetworkStatus = TypeOf<typeof status>;
