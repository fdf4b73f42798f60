/** Why the router of a Vpc has no port in an external Subnet that the Vpc requests. */
import type { Reason } from '../../api/reasons.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { labelKey } from '../../api/well-known.ts';
import { commandText } from '../../text/command-text.ts';
import { eipOfPort } from '../../world/external-subnets.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetBasics } from '../subnet/validity/spec-in-effect.ts';
import { gatewayChassis } from './gateway-chassis.ts';

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

/** No chassis can host a port of the Vpc. */
export function gatewayNodeProblem(world: World, vpc: string, subnet: string): Problem | undefined {
  if (world.ask(gatewayChassis, vpc).length > 0) return undefined;
  return problemOf(
    world,
    ...([vpc, subnet, 'NoGatewayNode'] as const),
    'needs a gateway node, and there is none',
    commandText`a gateway node has label ${labelKey.externalGateway}=true, and its agent runs; kubectl label node NODE ${labelKey.externalGateway}=true`,
  );
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
