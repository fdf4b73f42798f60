/** The table of each kind of NAT rule: what rules read of the EIP that it uses. */
import { API_VERSION } from '../api/schema/kind.ts';
import { kindTable } from './kind-table.ts';
import type { NatRule } from './nat-rules.ts';
import { annotatedEip, eipOfRule, heldByRule, SPEC_FIELDS, STATUS_FIELDS, translationsOf } from './nat-rules.ts';
import type { Untrimmed } from './trim.ts';
import { NETWORK_KEYS, trimMeta } from './trim.ts';

/**
 * Index `eip`: names of the EIP and of the one that its annotation has; `ip`: what it translates, by name; `subnet`: Subnet of the addresses that the rule holds; `translates`: inner
 * addresses or networks; `vpc`: the Vpc whose router has its rows; `network`: the Subnet whose network it translates.
 */
export const natRuleTable = kindTable<NatRule>({
  trim,
  indexes: () => ({
    eip: (rule) => [...new Set([eipOfRule(rule), annotatedEip(rule) ?? ''])],
    ip: ({ spec }) => [spec.ipName ?? ''],
    subnet: (rule) => [heldByRule(rule)?.subnet ?? ''],
    vpc: ({ status }) => [status?.vpc ?? ''],
    network: ({ spec }) => [spec.vpcSubnet ?? ''],
    translates: (rule) => translationsOf(rule).map(([, inner]) => inner),
  }),
});

function trim(object: Untrimmed): NatRule {
  const { conditions } = (object.status ?? {}) as NonNullable<NatRule['status']>;
  return {
    apiVersion: API_VERSION,
    kind: object.kind ?? '',
    metadata: trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key)),
    spec: only(object.spec, SPEC_FIELDS),
    status: { ...only(object.status, STATUS_FIELDS), ...(conditions !== undefined && { conditions }) },
  };
}

function only(part: unknown, fields: readonly string[]): Readonly<Record<string, never>> {
  const has = (part ?? {}) as Readonly<Record<string, never>>;
  return Object.fromEntries(fields.flatMap((field) => (has[field] === undefined ? [] : [[field, has[field]]])));
}
