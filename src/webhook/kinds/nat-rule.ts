/**
 * Validates a NAT rule when it is created or names another EIP. An EIP that does not exist yet is no error: the NAT rule waits for it. An
 * EIP that is being deleted accepts no new NAT rule.
 */
import { eipTerminating } from '../../compile/vip-eip/nat-rule.ts';
import type { NatRule, NatRuleResource } from '../../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, heldByRule } from '../../world/nat-rules.ts';
import { object, string } from '../../api/schema/schema.ts';
import type { KindAdmission, TypesOf } from '../protocol/kind-admission.ts';
import { CONDITION_TYPES } from '../protocol/kind-admission.ts';
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

/** The fields of a NAT rule that `world/nat-rules.ts` reads. */
const TYPES: TypesOf = {
  spec: object('', { ovnEip: string(), eip: string(), ipName: string(), ipType: string() }),
  status: object('', { v4Eip: string(), v6Eip: string(), conditions: CONDITION_TYPES }),
};

/** The part `admission` of each kind of NAT rules. */
export function natRuleAdmission(resource: NatRuleResource): KindAdmission {
  return {
    types: TYPES,
    validateCreate: (rule, observed) => ({
      denials: validateNatRuleCreate(resource, rule as unknown as NatRule, observed),
      warnings: [],
    }),
    validateUpdate: (before, after, observed) => ({
      denials: validateNatRuleUpdate(resource, before as unknown as NatRule, after as unknown as NatRule, observed),
      warnings: [],
    }),
  };
}
