/**
 * Validates a NAT rule when it is created or names another EIP. An EIP that does not exist yet is no error: the NAT rule waits for it. An
 * EIP that is being deleted accepts no new NAT rule. Of OVN's kinds also what the spec alone shows to be wrong is denied, and what another rule
 * translates already.
 */
import { conflictOfNew } from '../../compile/nat/nat-conflicts.ts';
import { inEffect } from '../../compile/nat/nat-in-effect.ts';
import { sourcesOfNew } from '../../compile/nat/nat-sources.ts';
import { isOvnNatRule } from '../../compile/nat/ovn-nat-rules.ts';
import { translationOf } from '../../compile/nat/requested-translation.ts';
import { staysText } from '../../compile/nat/translation.ts';
import { eipTerminating } from '../../compile/vip-eip/nat-rule.ts';
import { specRecord } from '../../kinds/ovn-fip/table/former-specs.ts';
import type { NatRule, NatRuleResource } from '../../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, heldByRule, SPEC_FIELDS } from '../../world/nat-rules.ts';
import { object, string } from '../../api/schema/schema.ts';
import type { KindAdmission, TypesOf } from '../protocol/kind-admission.ts';
import { CONDITION_TYPES } from '../protocol/kind-admission.ts';
import type { Denial, Observed } from '../protocol/admission-result.ts';
import { forbidden } from '../protocol/admission-result.ts';

export function validateNatRuleCreate(resource: NatRuleResource, rule: NatRule, observed: Observed): readonly Denial[] {
  return [...eipDenials(resource, rule, observed), ...ovnRuleDenials(resource, rule, observed)];
}

function eipDenials(resource: NatRuleResource, rule: NatRule, { world, complete }: Observed): readonly Denial[] {
  const name = eipOfRule(rule);
  const eip = complete && name !== '' ? world.addressObject(eipResourceOf(resource), name) : undefined;
  // A rule restored from a backup already has the address.
  if (eip?.terminating !== true || heldByRule(rule)?.eip === name) return [];
  return [forbidden(eipTerminating(resource, rule), resource.startsWith('ovn-') ? 'spec.ovnEip' : 'spec.eip')];
}

/** What breaks a rule of its own, and what another rule in effect translates already. */
function ovnRuleDenials(resource: NatRuleResource, rule: NatRule, { world, complete }: Observed, before?: NatRule): readonly Denial[] {
  if (!isOvnNatRule(resource)) return [];
  const result = translationOf(world, resource, rule);
  if (result.kind === 'problem' && result.reason === 'NatRuleInvalid') {
    const was = before === undefined ? undefined : translationOf(world, resource, before);
    if (was?.kind === 'problem' && was.message === result.message) return [];
    // A rule may be completed later; one that translates stays complete.
    if (result.incomplete !== true || was?.kind === 'translation') return [forbidden(result, 'spec')];
  }
  const conflict = complete ? conflictOfNew(world, resource, rule, before) : undefined;
  return conflict === undefined ? [] : [forbidden(conflict, 'spec.ovnEip')];
}

export function validateNatRuleUpdate(resource: NatRuleResource, before: NatRule, after: NatRule, observed: Observed): readonly Denial[] {
  const denials = eipOfRule(before) === eipOfRule(after) ? [] : eipDenials(resource, after, observed);
  return [...denials, ...ovnRuleDenials(resource, after, observed, before)];
}

/** What is in effect, and not as it may be meant. */
function warningsOf(resource: NatRuleResource, rule: NatRule, { world, complete }: Observed): readonly string[] {
  const warning = complete && isOvnNatRule(resource) ? sourcesOfNew(world, resource, rule) : '';
  return warning === '' ? [] : [warning];
}

/** An edit that cannot be carried out yet, and is no error: what it names may come later. */
function editWarnings(resource: NatRuleResource, before: NatRule, after: NatRule, { world, complete }: Observed): readonly string[] {
  if (!complete || !isOvnNatRule(resource)) return [];
  const result = translationOf(world, resource, after);
  const effect = inEffect(world, `${resource}/${before.metadata.name}`);
  if (result.kind !== 'problem' || effect === undefined || specRecord(before) === specRecord(after)) return [];
  return [`${result.message}. ${staysText(resource, effect.result)}`];
}

/** The fields of a NAT rule that `world/nat-rules.ts` reads. */
const TYPES: TypesOf = {
  spec: object('', Object.fromEntries(SPEC_FIELDS.map((field) => [field, string()]))),
  status: object('', { v4Eip: string(), v6Eip: string(), conditions: CONDITION_TYPES }),
};

/** The part `admission` of each kind of NAT rules. */
export function natRuleAdmission(resource: NatRuleResource): KindAdmission {
  return {
    types: TYPES,
    validateCreate: (rule, observed) => ({
      denials: validateNatRuleCreate(resource, rule as unknown as NatRule, observed),
      warnings: warningsOf(resource, rule as unknown as NatRule, observed),
    }),
    validateUpdate: (before, after, observed) => ({
      denials: validateNatRuleUpdate(resource, before as unknown as NatRule, after as unknown as NatRule, observed),
      warnings: [
        ...warningsOf(resource, after as unknown as NatRule, observed),
        ...editWarnings(resource, before as unknown as NatRule, after as unknown as NatRule, observed),
      ],
    }),
  };
}
