import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { otherRule, ovnRuleSpec, RULE_NAMES } from '../../testing/drawn-nat-rule.ts';

export const simulator: DrawnKind = { weight: 2, names: RULE_NAMES, spec: dnatSpec, edit: (draws) => otherRule(dnatSpec(draws)) };

function dnatSpec(draws: Draws): DrawnSpec {
  const protocol = draws.pick(['tcp', 'tcp', 'UDP', 'sctp']);
  return { ...ovnRuleSpec(draws, 'v4Ip'), protocol, externalPort: draws.pick(['80', '81', '99999']), internalPort: '8080' };
}
