/** The message of a centralized Subnet without a gateway node: the reason for each node that the spec names or selects. */
import { findingOf } from '../../../api/validation/finding.ts';
import type { World } from '../../../world/world.ts';
import { namesText } from '../../findings-text.ts';
import type { GatewayCandidate } from '../rows/subnet-gateway.ts';
import { gatewayCandidates } from '../rows/subnet-gateway.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetSpec } from '../validity/subnet-view.ts';
import { commandText } from '../../../text/command-text.ts';

const FAMILY_WANTED = { IPv4: 'IPv4 ', IPv6: 'IPv6 ', Dual: '', Mac: '' } as const;

export function gatewayMissing(world: World, view: SubnetView): string {
  const { gatewayNode = '', gatewayNodeSelectors: selectors = [] } = world.ask(subnetSpec, view.name) ?? {};
  const candidates = gatewayCandidates(world, view);
  const address = `${FAMILY_WANTED[view.protocol]}address in Subnet ${world.settings.joinSubnet}`;
  const why = [
    ...reasonText(candidates, 'missing', 'does not exist', 'do not exist'),
    ...reasonText(candidates, 'not ready', 'is not ready', 'are not ready'),
    ...reasonText(candidates, 'not joined', `has no ${address}`, `have no ${address}`),
  ];
  const bySelector = gatewayNode === '' && selectors.length > 0;
  const noCandidate = bySelector ? 'no node has these labels' : 'it names no node';
  const { message } = findingOf(
    { kind: 'Subnet', name: view.name },
    {
      code: 'NoActiveGatewayFound',
      field: bySelector ? 'spec.gatewayNodeSelectors' : 'spec.gatewayNode',
      value: bySelector ? JSON.stringify(selectors) : gatewayNode,
      problem: `gives no gateway: ${why.length === 0 ? noCandidate : why.join(', ')}`,
      rule: `a centralized gateway is a node that is ready and has an ${address}`,
    },
  );
  // An existing node is inspected; a name without a node is corrected in the Subnet.
  const next = candidates.some(({ state }) => state !== 'missing') ? 'kubectl get nodes' : commandText`kubectl edit subnet ${view.name}`;
  return `${message}; ${next}`;
}

function reasonText(
  candidates: readonly GatewayCandidate[],
  state: GatewayCandidate['state'],
  one: string,
  several: string,
): readonly string[] {
  const nodes = candidates.filter((candidate) => candidate.state === state).map(({ node }) => node);
  return nodes.length === 0 ? [] : [`${namesText(nodes)} ${nodes.length === 1 ? one : several}`];
}
