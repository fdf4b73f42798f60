/**
 * Networks of the underlay on this node: for each ProviderNetwork a bridge with the node's interface in it, which OVN knows by the name of the
 * network. Where a network stands follows from what is observed alone: after any death of the agent, or a start of the node, the next step
 * is the same. `provider-bridge.ts` has the steps, `network-labels.ts` what the Node object says of them.
 */
import type { Rule } from '../../../engine/compiler.ts';
import { ONCE } from '../../../engine/domain.ts';
import { isExcluded } from '../resource/node-network.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import type { TakenInterface } from '../../../agent/world/device-network.ts';
import { labels, labelsOfNone } from './network-labels.ts';
import { placeOf } from './network-place.ts';
import { networksOf } from './networks.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import { asItIs, bridgeWith, given, isStillOtherwise, type NetworkPart, networksPresent, problemOf, stateOf } from './provider-bridge.ts';
import { unusedVlans } from './vlan-interfaces.ts';

export function providerNetworks(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'provider-networks',
    over: () => ONCE,
    run(world) {
      const node = world.nodes.get(settings.node);
      const networks = networksOf(world, settings);
      const names = new Set(networks.map(({ name }) => name));
      const outputs: NodeOutput[] = [];
      const bridges: Record<string, string> = {};
      const macs: Record<string, string> = {};
      const taken: Record<string, TakenInterface> = {};
      const uplinks = new Map<string, string>();
      const take = (network: string, part: NetworkPart): void => {
        outputs.push(...part.outputs);
        if (part.mapped !== undefined) bridges[network] = part.mapped;
        if (part.routerMac !== undefined) macs[network] = part.routerMac;
        if (part.taken !== undefined) taken[network] = part.taken;
      };
      for (const { name, spec, edit } of networks) {
        if (node === undefined || isExcluded(spec, settings.node, node.labels)) {
          // Without the Node nothing is known of it: what there is stays.
          take(name, node === undefined ? asItIs(world, settings, name) : given(world, settings, name));
          if (node !== undefined) outputs.push(...labels(settings, node, name, { kind: 'excluded' }));
          continue;
        }
        const place = placeOf(name, spec, settings.node);
        const other = uplinks.get(place.uplink);
        const wrong = problemOf(world, place, spec, other, settings, edit);
        if (other === undefined) uplinks.set(place.uplink, name);
        // Where another program has its bridge, the interface gets back what went with the bridge before.
        if (world.bridges.get(place.bridge)?.foreign === true) take(name, given(world, settings, name));
        else if (wrong !== undefined) take(name, asItIs(world, settings, name));
        else if (isStillOtherwise(world, place)) take(name, given(world, settings, name));
        else take(name, bridgeWith(world, settings, place, spec));
        outputs.push(...labels(settings, node, name, wrong === undefined ? stateOf(world, place) : { kind: 'failed', why: wrong }));
      }
      const removed = networksPresent(world).filter((network) => !names.has(network));
      for (const network of removed) take(network, given(world, settings, network));
      outputs.push(...unusedVlans(world, outputs, networks, settings.node));
      if (node !== undefined) outputs.push(...labelsOfNone(names, settings, node));
      return [...outputs, { kind: 'bridge-mappings', bridges, macs, taken }];
    },
  };
}
