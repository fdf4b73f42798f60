/**
 * Validates a NAT rule when it is created or names another EIP. An EIP that does not exist yet is no error: the NAT rule waits for it. An
 * EIP that is being deleted accepts no new NAT rule.
 */
import { eipTerminating } from '../../compile/vip-eip/nat-rule.ts';
import type { NatRule, NatRuleResource } from '../../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, heldByRule } from '../../world/nat-rules.ts';
import type { Denial, Observed } from '../protocol/admission-result.ts';
import { forbidden } from '../protocol/admission-result.ts';

export function validateNatRuleCreate(resource: NatRuleResource, rule: NatRule, { world, complete }: Observed): readonly Denial[] {
  const name = eipOfRule(rule);
  const eip = complete && name !== '' ? world.addressObject(eipResourceOf(resource), name) : undefined;
  // A rule restored from a backup already has the address.
  if (eip?.terminating !== true || heldByRule(rule)?.eip === name) return [];
  return [forbidden(eipTerminating(resource, rule), resource.startsWith('ovn-') ? 'spec.ovnEip' : 'spec.eip')];
}

export function validateNatRuleUpdate(resource: NatRuleResource, before: NatRule, after: NatRule, observed: Observed): readonly Denial[] {
  return eipOfRule(before) === eipOfRule(after) ? [] : validateNatRuleCreate(resource, after, observed);
}
