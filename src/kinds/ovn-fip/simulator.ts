import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { otherRule, ovnRuleSpec, RULE_NAMES } from '../../testing/drawn-nat-rule.ts';

export const simulator: DrawnKind = { weight: 3, names: RULE_NAMES, spec: fipSpec, edit: (draws) => otherRule(fipSpec(draws)) };

function fipSpec(draws: Draws): DrawnSpec {
  const type = draws.chance(0.5) ? { type: draws.pick(['distributed', 'distributed', 'centralized', 'nonsense']) } : {};
  return { ...ovnRuleSpec(draws, 'v4Ip'), ...type };
}
