/** What the simulator draws of rules of OVN that translate. Only tests import it. */
import type { Draws, DrawnSpec } from './drawn-kind.ts';
import { NAMES, names } from './drawn-kind.ts';

export const RULE_NAMES = names('rule', 2);

/**
 * An EIP, which may not exist, and what it is for: a Vip, a pod, an address, or nothing.
 *
 * @param inner the field for an address
 */
export function ovnRuleSpec(draws: Draws, inner: 'v4Ip' | 'v4IpCidr'): DrawnSpec {
  const spec: DrawnSpec = { ovnEip: draws.pick(['eip0', 'eip1', 'eip9']) };
  if (draws.chance(0.5)) {
    const isVip = inner === 'v4Ip' && draws.chance(0.4);
    spec['ipName'] = isVip ? draws.pick(names('vip', 3)) : `${draws.pick(NAMES.pods)}.${draws.pick(NAMES.namespaces)}`;
    if (isVip || draws.chance(0.05)) spec['ipType'] = 'vip';
  }
  if (draws.chance(0.4)) {
    spec['vpc'] = draws.pick(NAMES.vpcs);
    spec[inner] = draws.pick(['10.1.0.2', '10.1.1.9', 'oops']);
  }
  return spec;
}

/** A merge patch of a new spec: fields of the old one may go. */
export function otherRule(spec: DrawnSpec): DrawnSpec {
  return { ipName: null, ipType: null, vpc: null, v4Ip: null, v4IpCidr: null, vpcSubnet: null, type: null, ...spec };
}
