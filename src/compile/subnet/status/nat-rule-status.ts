/**
 * `status.natOutgoingPolicyRules`, where Kube-OVN's node agent reads the exceptions to plain outgoing NAT, each with the name that its sets
 * and chains have on nodes.
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
    // The bytes that Go writes for the rule: keys in this order, empty texts left out.
    const { srcIPs = '', dstIPs = '' } = match;
    const rule = { match: { ...(srcIPs !== '' && { srcIPs }), ...(dstIPs !== '' && { dstIPs }) }, action };
    const ruleID = createHash('sha256')
      .update(`${name}${index}${JSON.stringify(rule)}`)
      .digest('hex')
      .slice(0, ID_LENGTH);
    return { ...rule, ruleID };
  });
}
