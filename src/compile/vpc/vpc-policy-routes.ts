/** Policy routes of a Vpc's spec. Other policies of the same router (of nodes, of Subnets, foreign ones) have other row owners. */
import { formatAddress, parseAddress } from '../../net/address.ts';
import { splitList } from '../../net/dual.ts';
import { policyId } from '../../nb/tables.ts';
import type { Rule } from '../rule.ts';
import type { RowOwner, RowOutput } from '../output.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { vpcOwner, routerId } from './vpc-view.ts';

const RULE = 'vpc-policy-routes';

export interface Policy {
  readonly priority: number;
  readonly match: string;
  readonly action: string;
  readonly nexthops: readonly string[];
}

export const vpcPolicyRoutes: Rule = vpcRowsRule(RULE, ({ view, spec, isFaulty }) =>
  (spec.policyRoutes ?? []).flatMap(({ priority = 0, match = '', action = '', nextHopIP = '' }, i) => {
    if (isFaulty(`spec.policyRoutes[${i}]`)) return [];
    const nexthops = action === 'reroute' ? splitList(nextHopIP).flatMap(canonical) : [];
    return [policyRow(view.router, { priority, match: match.trim(), action, nexthops }, vpcOwner(view), RULE)];
  }),
);

/** A policy of a router, for Vpcs and Subnets. */
export function policyRow(
  router: string,
  policy: Policy,
  owner: RowOwner,
  rule: string,
  externalIds?: Readonly<Record<string, string>>,
): RowOutput {
  const { priority, match, action, nexthops } = policy;
  return {
    kind: 'row',
    id: policyId(router, priority, match),
    owner,
    rule,
    parent: { id: routerId(router), column: 'policies' },
    columns: { priority, match, action, nexthops: [...nexthops].toSorted() },
    ...(externalIds !== undefined && { externalIds }),
  };
}

function canonical(text: string): string[] {
  const address = parseAddress(text);
  return address === undefined ? [] : [formatAddress(address)];
}
