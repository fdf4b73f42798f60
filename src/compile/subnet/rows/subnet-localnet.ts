/** The port of an underlay Subnet's switch into the network of the nodes: `localnet.<subnet>`, in the VLAN of its Vlan. */
import { localnetPort } from '../../../api/names.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { RowId } from '../../../nb/row-id.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { RowOutput } from '../../output.ts';
import { retainedRow } from '../../retained-row.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, switchId } from '../validity/subnet-view.ts';
import { localnetId, subnetUnderlay } from '../validity/underlay.ts';

const RULE = 'subnet-localnet';

export const subnetLocalnet: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    return view === undefined ? [] : localnetRows(world, view);
  },
};

export function localnetRows(world: World, view: SubnetView): readonly RowOutput[] {
  const { name } = view;
  const underlay = world.ask(subnetUnderlay, name);
  if (underlay.kind === 'none') return [];
  const id = localnetId(name);
  if (underlay.kind === 'waiting') {
    // Pods use it.
    const present = retainedRow(world, id);
    return present?.owner.uid === view.uid ? [present] : [];
  }
  const { providerNetwork, tag } = underlay;
  const gateways = gatewayNetwork(world, id, name);
  return [
    {
      kind: 'row',
      id,
      owner: subnetOwner(view),
      rule: RULE,
      parent: { id: switchId(name), column: 'ports' },
      columns: {
        name: localnetPort(name),
        type: 'localnet',
        addresses: ['unknown'],
        options: { network_name: gateways ?? providerNetwork },
        tag: tag === 0 ? null : tag,
        dhcpv4_options: null,
        dhcpv6_options: null,
      },
      // OVN as Kube-OVN builds it reads the networks: ports in them are not tracked.
      externalIds: {
        ls: name,
        ...(view.v4 !== undefined && gateways === undefined && { ipv4_network: view.v4.cidr }),
        ...(view.v6 !== undefined && gateways === undefined && { ipv6_network: view.v6.cidr }),
      },
    },
  ];
}

/**
 * The network of the external Subnet's port as Kube-OVN wrote it for its gateways (its flag --external-gateway-net): without the keys of an
 * underlay port. While Kube-OVN ran, the traffic went through the bridge that the nodes map to it, whatever its Vlan names.
 */
function gatewayNetwork(world: World, id: RowId, subnet: string): string | undefined {
  if (subnet !== world.settings.externalSubnet) return undefined;
  const [options, keys] = [world.rows.column(id, 'options'), world.rows.column(id, 'external_ids')];
  if (keys instanceof Map && (keys.has('ipv4_network') || keys.has('ipv6_network'))) return undefined;
  const network: unknown = options instanceof Map ? options.get('network_name') : undefined;
  return typeof network === 'string' ? network : undefined;
}
