import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';
import { otherRule, ovnRuleSpec, RULE_NAMES } from '../../testing/drawn-nat-rule.ts';

export const simulator: DrawnKind = { weight: 2, names: RULE_NAMES, spec: snatSpec, edit: (draws) => otherRule(snatSpec(draws)) };

function snatSpec(draws: Draws): DrawnSpec {
  return { ...ovnRuleSpec(draws, 'v4IpCidr'), ...(draws.chance(0.5) ? { vpcSubnet: draws.pick(NAMES.subnets) } : {}) };
}
