/**
 * `externalEgressGateway`: what pods of a Subnet send to the outside goes to a host outside, which sees their own addresses. A table of routes for
 * the Subnet, and rules by source that lead to it: of each pod of this node, or of the whole Subnet on the nodes of a centralized gateway.
 */
import { selectorMatches } from '../../../api/kubernetes/label-selector.ts';
import type { Rule } from '../../../engine/compiler.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { keysOf, ONCE } from '../../../engine/domain.ts';
import { type Attachment, deviceOf } from '../../../agent/world/attachment.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSubnet } from '../agent-table.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { portKey } from '../../../agent/world/port-keys.ts';
import { isReachedFromNodes } from './reached-from-nodes.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import { podNetwork } from '../../pod/agent-rules/pod-network.ts';

type EgressSubnet = NodeSubnet & Required<Pick<NodeSubnet, 'egress'>>;

/** The tables, and the rules of centralized Subnets. */
export function egressTables(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'egress-tables',
    over: () => ONCE,
    run(world) {
      const subnets = egressSubnets(world, settings);
      if (subnets.length === 0) return [];
      const inside = [...world.subnets.keys()]
        .flatMap((name) => world.subnets.get(name) ?? [])
        .filter((subnet) => isReachedFromNodes(subnet, settings))
        .flatMap(({ cidrs }) => cidrs);
      return subnets.flatMap((subnet) => [
        ...tableOf(subnet, inside),
        ...(subnet.centralized && isGateway(world, subnet, settings.node) ? subnet.cidrs.flatMap((cidr) => ruleOf(subnet, cidr)) : []),
      ]);
    },
  };
}

/** The rules of pods. */
export function egressOfPods(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'egress-of-pods',
    over: (world) => keysOf(world.attachments),
    run(world, key) {
      const attachment = world.attachments.get(key);
      const subnets = egressSubnets(world, settings).filter(({ centralized }) => !centralized);
      if (attachment === undefined || attachment.removing === true || subnets.length === 0) return [];
      return addressesOf(world, attachment).flatMap((address) =>
        subnets.filter(({ cidrs }) => cidrs.some((cidr) => isIn(address, cidr))).flatMap((subnet) => ruleOf(subnet, address)),
      );
    },
  };
}

function egressSubnets(world: NodeWorld, settings: NodeSettings): readonly EgressSubnet[] {
  return world.subnets
    .select('egress', '')
    .flatMap((subnet) => (subnet.egress === undefined ? [] : [{ ...subnet, egress: subnet.egress }]))
    .filter((subnet) => isReachedFromNodes(subnet, settings));
}

/** A default route for each family of the gateway. What a Service sends back to a pod is left to the node's own routes. */
function tableOf({ egress: { gateways, table }, cidrs }: EgressSubnet, inside: readonly string[]): readonly NodeOutput[] {
  return gateways.flatMap((gateway): readonly NodeOutput[] => {
    const family = parseAddress(gateway)?.family;
    if (family === undefined || !cidrs.some((cidr) => parseCidr(cidr)?.family === family)) return [];
    const route = (text: string): NodeOutput => ({ kind: 'routing', family, part: 'route', text: `${text} table ${table}` });
    return [
      route(`default via ${gateway}`),
      ...inside.filter((cidr) => parseCidr(cidr)?.family === family).map((cidr) => route(`throw ${cidr}`)),
    ];
  });
}

/** None for a family that the gateway does not have: such a rule would lead to a table without its routes. */
function ruleOf({ egress: { gateways, table, priority } }: EgressSubnet, source: string): readonly NodeOutput[] {
  const family = (parseCidr(source) ?? parseAddress(source))?.family;
  if (family === undefined || !gateways.some((gateway) => parseAddress(gateway)?.family === family)) return [];
  return [{ kind: 'routing', family, part: 'rule', text: `from ${source} lookup ${table} priority ${priority}` }];
}

/** Of a pod that is not observed, those that its port was made with: it still sends. */
function addressesOf(world: NodeWorld, attachment: Attachment): readonly string[] {
  const pod = world.pods.get(`${attachment.pod.namespace}/${attachment.pod.name}`);
  const network = pod && podNetwork(pod, attachment);
  if (network?.kind === 'bound') return network.addresses.map(({ ip }) => ip);
  const port = world.ports.get(deviceOf(attachment));
  return splitList(port?.externalIds[portKey.addresses] ?? '');
}

/** Names override selectors, as in the controller. */
function isGateway(world: NodeWorld, { gatewayNodes, gatewaySelectors }: NodeSubnet, node: string): boolean {
  const named = splitList(gatewayNodes).map((entry) => (entry.split(':', 1)[0] ?? '').trim());
  if (named.length > 0) return named.includes(node);
  const labels = world.nodes.get(node)?.labels ?? {};
  return gatewaySelectors.some((selector) => selectorMatches(selector, labels));
}

function isIn(address: string, cidr: string): boolean {
  const [parsed, network] = [parseAddress(address), parseCidr(cidr)];
  return parsed !== undefined && network !== undefined && cidrContains(network, parsed);
}
