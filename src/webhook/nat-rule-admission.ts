/** A rule that translates by an EIP is made, or names another one. An EIP that is not there yet is waited for; one that is on its way out takes no new rule. */
import { eipTerminating } from '../compile/address-object/nat-rule.ts';
import type { NatRule, NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, heldByRule } from '../world/nat-rules.ts';
import type { Objection, Observed } from './opinion.ts';
import { forbidden } from './opinion.ts';

export function natRuleCreated(resource: NatRuleResource, rule: NatRule, { world, complete }: Observed): readonly Objection[] {
  const name = eipOfRule(rule);
  const eip = complete && name !== '' ? world.addressObject(eipResourceOf(resource), name) : undefined;
  // One from a backup has the address already.
  if (eip?.terminating !== true || heldByRule(rule)?.eip === name) return [];
  return [forbidden(eipTerminating(resource, rule), resource.startsWith('ovn-') ? 'spec.ovnEip' : 'spec.eip')];
}

export function natRuleChanged(resource: NatRuleResource, before: NatRule, after: NatRule, observed: Observed): readonly Objection[] {
  return eipOfRule(before) === eipOfRule(after) ? [] : natRuleCreated(resource, after, observed);
}
