/** The table of each kind of NAT rule: what rules read of the EIP that it uses. */
import { API_VERSION } from '../api/schema/kind.ts';
import { kindTable } from './kind-table.ts';
import type { NatRule } from './nat-rules.ts';
import { eipOfRule, heldByRule, translationsOf } from './nat-rules.ts';
import type { Untrimmed } from './trim.ts';
import { NETWORK_KEYS, trimMeta } from './trim.ts';

/**
 * Index `eip`: name of the EIP; `ip`: what it translates, by name; `subnet`: Subnet of the addresses that the rule holds; `translates`: inner
 * addresses or networks.
 */
export const natRuleTable = kindTable<NatRule>({
  trim,
  indexes: () => ({
    eip: (rule) => [eipOfRule(rule)],
    ip: ({ spec }) => [spec.ipName ?? ''],
    subnet: (rule) => [heldByRule(rule)?.subnet ?? ''],
    translates: (rule) => translationsOf(rule).map(([, inner]) => inner),
  }),
});

function trim(object: Untrimmed): NatRule {
  const { ovnEip, eip, ipName, ipType } = (object.spec ?? {}) as NatRule['spec'];
  const { ready, v4Eip, v6Eip, v4Ip, v6Ip, v4IpCidr, v6IpCidr, conditions } = (object.status ?? {}) as NonNullable<NatRule['status']>;
  return {
    apiVersion: API_VERSION,
    kind: object.kind ?? '',
    metadata: trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key)),
    spec: {
      ...(ovnEip !== undefined && { ovnEip }),
      ...(eip !== undefined && { eip }),
      ...(ipName !== undefined && { ipName }),
      ...(ipType !== undefined && { ipType }),
    },
    status: {
      ...(ready !== undefined && { ready }),
      ...(v4Eip !== undefined && { v4Eip }),
      ...(v6Eip !== undefined && { v6Eip }),
      ...(v4Ip !== undefined && { v4Ip }),
      ...(v6Ip !== undefined && { v6Ip }),
      ...(v4IpCidr !== undefined && { v4IpCidr }),
      ...(v6IpCidr !== undefined && { v6IpCidr }),
      ...(conditions !== undefined && { conditions }),
    },
  };
}
