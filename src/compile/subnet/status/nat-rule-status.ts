/**
 * `status.natOutgoingPolicyRules`: Kube-OVN's node agent reads the exceptions to outgoing NAT there, each with the name of its sets and
 * chains on nodes.
 */
import { createHash } from 'node:crypto';
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import type { Json } from '../../output.ts';

/** Kube-OVN's NatPolicyRuleIDLength. */
const ID_LENGTH = 12;

/** Empty without `natOutgoing`: the rules are exceptions to it. */
export function natRulesInEffect(name: string, { natOutgoing = false, natOutgoingPolicyRules = [] }: SubnetSpec): readonly Json[] {
  if (!natOutgoing) return [];
  return natOutgoingPolicyRules.map(({ match = {}, action = '' }, index) => {
    // The JSON that Go writes for the rule: keys in this order, without empty texts.
    const { srcIPs = '', dstIPs = '' } = match;
    const rule = { match: { ...(srcIPs !== '' && { srcIPs }), ...(dstIPs !== '' && { dstIPs }) }, action };
    const ruleID = createHash('sha256')
      .update(`${name}${index}${JSON.stringify(rule)}`)
      .digest('hex')
      .slice(0, ID_LENGTH);
    return { ...rule, ruleID };
  });
}
