/** The EIP of a NAT rule: its addresses while it exists, and those that the rule holds after it was removed by force. */
import { isLateForEip } from '../../blockers/late-nat-rules.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { parseAddress } from '../../net/address.ts';
import { commandText } from '../../text/command-text.ts';
import { outOfNetwork } from '../../kinds/ovn-eip/dependencies/out-of-network.ts';
import { vpcOfEip } from '../../world/external-subnets.ts';
import { eipOfRule, heldByRule } from '../../world/nat-rules.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { eipTerminating } from '../vip-eip/nat-rule.ts';
import type { Problem } from './external-problem.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';

export interface RuleEip {
  readonly name: string;
  readonly subnet: string;
  /** Empty for none. */
  readonly v4: string;
  readonly v6: string;
  /** The Vpc whose router port has its addresses. */
  readonly portOf?: string;
  /** Why the rule goes on with addresses that its EIP does not have, or that reach nothing. */
  readonly missing?: Problem;
}

interface OvnEipInUse extends RuleEip {
  readonly type: string;
}

/** What NAT rules read of an OvnEip; undefined for a missing one. Addresses are empty until it has them. */
const ovnEipInUse: Query<OvnEipInUse | undefined> = defineQuery('ovn-eip-in-use', (world, name) => {
  const eip = world.addressObject('ovn-eips', name);
  if (eip === undefined) return undefined;
  const { subnet, held, type, typeInEffect } = eip;
  return { name, subnet, v4: held?.v4 ?? '', v6: held?.v6 ?? '', type: typeInEffect ?? type };
});

/** @param isFormer the rule as it was when its rows were written */
export function eipOf(world: World, resource: OvnNatRule, rule: NatRule, isFormer = false): RuleEip | Problem {
  const { kind } = traitsOf(resource);
  const { name } = rule.metadata;
  const value = eipOfRule(rule);
  const problem = (reason: Problem['reason'], text: string, advice: string): Problem => {
    const { message } = findingOf({ kind, name }, { code: reason, field: 'spec.ovnEip', value, problem: text, rule: advice });
    return { reason, message, ...(value === '' && { incomplete: true as const }) };
  };
  if (value === '') return problem('NatRuleInvalid', 'is empty', `an ${kind} names the OvnEip with its external address`);
  if (!isFormer && world.ask(isLateForEip, `${resource}/${name}`)) return eipTerminating(resource, rule);
  const eip = world.ask(ovnEipInUse, value);
  const held = heldByRule(rule);
  if (eip === undefined) {
    const [text, advice] = ['names no OvnEip that exists', commandText`kubectl get ovn-eip ${value}`] as const;
    // What a rule named before holds nothing once it is gone.
    if (held === undefined || isFormer) return problem('EipMissing', text, advice);
    const kept = held.addresses.join(',');
    const missing = problem('EipMissing', `${text}; the ${kind} holds its address ${kept}, and translates it until it is deleted`, advice);
    const ofFamily = (family: 4 | 6): string => held.addresses.find((one) => parseAddress(one)?.family === family) ?? '';
    return { name: value, subnet: held.subnet, v4: ofFamily(4), v6: ofFamily(6), missing };
  }
  if (eip.type === 'lsp')
    return problem('EipTypeInvalid', 'has type lsp', 'such an OvnEip is the port of a gateway node; use one of type nat');
  if (eip.v4 === '' && eip.v6 === '')
    return { ...problem('EipPending', 'has no address yet', commandText`kubectl describe ovn-eip ${value}`), inProgress: true };
  const { subnet, v4, v6 } = eip;
  const portOf = eip.type === 'lrp' ? vpcOfEip(world, value, subnet) : undefined;
  const network = world.ask(outOfNetwork, value);
  const outside = `has an address outside of ${network}, the network that Subnet ${subnet} has now`;
  const missing =
    network === ''
      ? undefined
      : problem(
          'AddressOutOfRange',
          outside,
          commandText`nothing there sends to it: name another OvnEip; kubectl describe ovn-eip ${value}`,
        );
  return { name: value, subnet, v4, v6, ...(portOf !== undefined && { portOf }), ...(missing !== undefined && { missing }) };
}
