/** Why the router of a Vpc has no port in an external Subnet that the Vpc requests. */
import type { Reason } from '../../api/reasons.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { labelKey } from '../../api/well-known.ts';
import { commandText } from '../../text/command-text.ts';
import type { ExternalGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { addressesOfNetworks, claimantOfPort, configuredPort, eipOfPort } from '../../world/external-subnets.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetBasics } from '../subnet/validity/spec-in-effect.ts';
import { isWithin, subnetView } from '../subnet/validity/subnet-view.ts';
import { gatewayChassis } from './gateway-chassis.ts';
import { gatewayConfigFinding } from './gateway-config-finding.ts';

/** Most nodes that a message names. */
const NAMED = 3;

export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  /** It ends by itself, and needs no Event. */
  readonly inProgress?: true;
  /** A field is empty, and may be filled in later. */
  readonly incomplete?: true;
}

/** A problem of the spec, or of the objects that it names: without it the port is made. Undefined for none. */
export function externalProblem(world: World, vpc: string, subnet: string): Problem | undefined {
  const basics = world.ask(subnetBasics, subnet);
  const config = configuredPort(world, vpc, subnet);
  const [invalid] = config?.invalid ?? [];
  if (invalid !== undefined) return ofConfig(gatewayConfigFinding(world.settings, invalid));
  // The ConfigMap has all that the port needs: it gets a switch of its own.
  if (basics === undefined && config !== undefined) return undefined;
  if (basics === undefined)
    return problemOf(world, vpc, subnet, 'WaitingForSubnet', 'does not exist', commandText`kubectl get subnet ${subnet}`);
  if (!basics.isOvn)
    return problemOf(
      world,
      ...([vpc, subnet, 'ExternalSubnetInvalid'] as const),
      `has provider "${basics.provider}", which is outside of OVN`,
      'a router has ports in switches of OVN alone; name another Subnet',
    );
  if (basics.vpc === vpc && basics.routed)
    return problemOf(
      world,
      ...([vpc, subnet, 'ExternalSubnetInvalid'] as const),
      'has its own gateway in the router of this Vpc',
      `a Subnet is either inside of a Vpc or external to it: name another Subnet, or give this one a spec.vlan; ${commandText`kubectl get subnet ${subnet} -o yaml`}`,
    );
  if (config !== undefined) return configuredPortProblem(world, vpc, subnet, config);
  const eip = eipOfPort(vpc, subnet);
  const present = world.ask(eipInEffect, eip);
  if (present !== undefined && (present.type !== 'lrp' || present.subnet !== subnet))
    return problemOf(
      world,
      ...([vpc, subnet, 'ExternalEipInvalid'] as const),
      `needs an OvnEip ${eip}, which exists with type ${present.type} in Subnet ${present.subnet}`,
      `the port of the router has the address of the OvnEip with its name, of type lrp; ${commandText`kubectl delete ovn-eip ${eip}`}`,
    );
  return undefined;
}

/** Why the addresses of the ConfigMap cannot be those of the port. */
function configuredPortProblem(world: World, vpc: string, subnet: string, config: ExternalGatewayConfig): Problem | undefined {
  const view = world.ask(subnetView, subnet);
  if (view === undefined || view.cidr === '' || isWithin(view, addressesOfNetworks(config.networks))) return undefined;
  const text = `is outside of ${view.cidr}, the network of Subnet ${subnet}`;
  return addressProblem(world, config, text, `the router port of Vpc ${vpc} has addresses of that Subnet`);
}

/** Why the addresses of the ConfigMap are not reserved: another object has them. Undefined while they are, or may be soon. */
export function reservationProblem(world: World, vpc: string, subnet: string): Problem | undefined {
  const config = configuredPort(world, vpc, subnet);
  const reservation = config === undefined ? undefined : world.reservations.get(claimantOfPort(vpc, subnet));
  if (config === undefined || reservation?.kind !== 'failed') return undefined;
  return addressProblem(world, config, `cannot be had: ${reservation.message}`, 'name a free address, or leave it empty');
}

function addressProblem(world: World, { networks }: ExternalGatewayConfig, problem: string, rule: string): Problem {
  return ofConfig(gatewayConfigFinding(world.settings, { key: 'nic-ip', value: networks.join(','), problem, rule }));
}

function ofConfig({ code, message }: Finding): Problem {
  return { reason: code, message };
}

/** No chassis can host a port of the Vpc. */
export function gatewayNodeProblem(world: World, vpc: string, subnet: string): Problem | undefined {
  if (world.ask(gatewayChassis, vpc).length > 0) return undefined;
  const labelled = [...world.nodes.bucket('externalGateway', 'true')].toSorted();
  const [first] = labelled;
  const what = first === undefined ? 'and there is none' : `and no node with its label has a chassis: ${someOf(labelled)}`;
  const rule = `a gateway node has label ${labelKey.externalGateway}=true, and its agent, or that of Kube-OVN, reports its chassis`;
  const next =
    first === undefined
      ? commandText`kubectl label node NODE ${labelKey.externalGateway}=true`
      : commandText`kubectl describe node ${first}`;
  return problemOf(world, vpc, subnet, 'NoGatewayNode', `needs a gateway node, ${what}`, `${rule}; ${next}`);
}

/** The first names of a list, and how many more there are. */
function someOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Type in effect and Subnet of an OvnEip. */
const eipInEffect: Query<{ readonly type: string; readonly subnet: string } | undefined> = defineQuery(
  'ovn-eip-in-effect',
  (world, name) => {
    const eip = world.addressObject('ovn-eips', name);
    return eip === undefined ? undefined : { type: eip.typeInEffect ?? eip.type, subnet: eip.subnet };
  },
);

/** The finding, about the field of the spec that names the Subnet. */
function problemOf(world: World, vpc: string, subnet: string, code: Reason, problem: string, rule: string): Problem {
  const extra = world.ask(vpcIntent, vpc)?.spec.extraExternalSubnets ?? [];
  const at = extra.indexOf(subnet);
  const [field, value] = at === -1 ? ['spec.enableExternal', 'true'] : [`spec.extraExternalSubnets[${at}]`, subnet];
  const text = at === -1 ? `requests a port in Subnet ${subnet}, which ${problem}` : problem;
  const { message } = findingOf({ kind: 'Vpc', name: vpc }, { code, field, value, problem: text, rule });
  return { reason: code, message };
}
