/** What the status of a Vpc says of its external Subnets. */
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { commandText } from '../../text/command-text.ts';
import { configuredPort, eipOfPort, requestedExternals } from '../../world/external-subnets.ts';
import { outOfNetwork } from '../../kinds/ovn-eip/dependencies/out-of-network.ts';
import { conditionsOf } from '../../world/conditions.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { isOursOnceAdopted, vpcOwner, vpcSpec, vpcView } from '../vpc/vpc-view.ts';
import type { ConditionOutput, Json } from '../output.ts';
import { externalPortId } from './external-ports.ts';
import { externalsOnceListed, hasPortOrEip } from './kept-external-port.ts';
import type { Problem } from './external-problem.ts';
import { externalProblem, gatewayNodeProblem, reservationProblem } from './external-problem.ts';

/** The Subnets in which the router of a Vpc has its port, as observed; sorted. */
export const connectedExternals: Query<readonly string[]> = defineQuery('vpc-connected-externals', (world, name) => {
  const view = world.ask(vpcView, name);
  // Of a Vpc that was removed by force they are what its router still has.
  if (view === undefined) return world.ask(requestedExternals, name).toSorted();
  return world
    .ask(requestedExternals, name)
    .filter((subnet) => isOursOnceAdopted(world, externalPortId(name, subnet), vpcOwner(view)))
    .toSorted();
});

/** Whether the router has its port in an external Subnet. */
export function hasExternalPort(world: World, vpc: string, subnet: string): boolean {
  return world.ask(connectedExternals, vpc).includes(subnet);
}

/** Fields of the status. An empty list would be one as well to Kube-OVN, which then ignores its ConfigMap of the default Vpc. */
export function externalStatus(world: World, name: string): Readonly<Record<string, Json>> {
  const connected = world.ask(connectedExternals, name);
  const extra = world.ask(vpcSpec, name)?.extraExternalSubnets ?? [];
  const requested = world.ask(requestedExternals, name);
  // One that was taken from the list stays in the status until its port is gone: else it would count as never listed.
  const going = world
    .ask(externalsOnceListed, name)
    .filter((subnet) => !extra.includes(subnet) && !requested.includes(subnet) && hasPortOrEip(world, name, subnet));
  const listed = [...connected.filter((subnet) => extra.includes(subnet)), ...going].toSorted();
  return { enableExternal: connected.length > 0, extraExternalSubnets: listed.length === 0 ? null : listed };
}

/** The list of external Subnets of a Vpc that is not to be connected to any. */
export function unusedExternals(name: string, { enableExternal, extraExternalSubnets = [] }: VpcSpec): readonly Finding[] {
  if (enableExternal === true || extraExternalSubnets.length === 0) return [];
  const [field, value] = ['spec.extraExternalSubnets', extraExternalSubnets.join(',')];
  const problem = 'has no effect without spec.enableExternal';
  const rule = commandText`a Vpc with spec.enableExternal has ports in these Subnets; kubectl edit vpc ${name}`;
  return [findingOf({ kind: 'Vpc', name }, { code: 'ExternalOff', field, value, problem, rule })];
}

/** Whether the router has all of its external ports; no condition for a Vpc that requests none. */
export function externalCondition(world: World, name: string): readonly ConditionOutput[] {
  const requested = world.ask(requestedExternals, name);
  if (requested.length === 0) return [];
  for (const subnet of requested) {
    const problem = whyUnconnected(world, name, subnet);
    if (problem === undefined) continue;
    const { reason, message, inProgress } = problem;
    return [{ type: 'External', status: 'False', reason, message, ...(inProgress !== true && { event: 'Warning' as const }) }];
  }
  return [{ type: 'External', status: 'True', reason: 'ExternalConnected', message: '' }];
}

function whyUnconnected(world: World, name: string, subnet: string): Problem | undefined {
  const problem = externalProblem(world, name, subnet) ?? gatewayNodeProblem(world, name, subnet);
  const config = configuredPort(world, name, subnet);
  const unreserved = config === undefined ? undefined : reservationProblem(world, name, subnet);
  if (problem !== undefined || unreserved !== undefined) return problem ?? unreserved;
  const outside = config === undefined ? outsideProblem(world, name, subnet) : undefined;
  if (outside !== undefined) return outside;
  if (world.ask(connectedExternals, name).includes(subnet)) return undefined;
  const eip = eipOfPort(name, subnet);
  const why = config === undefined ? world.ask(eipRefused, eip) : '';
  const text = `Vpc ${name}: the router has no port in Subnet ${subnet} yet`;
  if (why === '') return { reason: 'ExternalPending', message: text, inProgress: true };
  return { reason: 'ExternalEipInvalid', message: `${text}: ${why}; ${commandText`kubectl describe ovn-eip ${eip}`}` };
}

/** The port has an address of a network that the Subnet had before it was removed by force. */
function outsideProblem(world: World, name: string, subnet: string): Problem | undefined {
  const eip = eipOfPort(name, subnet);
  const network = world.ask(outOfNetwork, eip);
  if (network === '') return undefined;
  const what = `the router port in Subnet ${subnet} has the address of OvnEip ${eip}, which is outside of ${network}, the network of the Subnet now`;
  const then = 'once no NAT rule uses that OvnEip and it is deleted, the Vpc makes one with an address of that network';
  return { reason: 'ExternalEipInvalid', message: `Vpc ${name}: ${what}; ${then}; ${commandText`kubectl delete ovn-eip ${eip}`}` };
}

/** Why an OvnEip has no address; empty while it may get one. */
const eipRefused: Query<string> = defineQuery('ovn-eip-refused', (world, name) => {
  const eip = world.ovnEips.get(name);
  const accepted = eip === undefined ? undefined : conditionsOf('ovn-eips', eip).find(({ type }) => type === 'Accepted');
  return accepted?.status === 'False' ? (accepted.message ?? '') : '';
});
