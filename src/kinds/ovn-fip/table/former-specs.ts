/**
 * The spec that the rows of a NAT rule carry out, where the rule has another one by now. It is recorded in the rows themselves, so it is gone
 * with them, and every process finds the same.
 */
import { ownerText, SPEC_KEY } from '../../../nb/ownership.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { tableOf } from '../../../nb/row-id.ts';
import { keysOf, prefixed } from '../../../engine/domain.ts';
import type { NatRule, NatRuleResource, NatRuleSpec } from '../../../world/nat-rules.ts';
import { natRulesOf, SPEC_FIELDS, vipOfRule } from '../../../world/nat-rules.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { World } from '../../../world/world.ts';
import { defineTable } from '../../../world/world.ts';

/** The record of a spec: its fields that are not empty, as JSON. */
export function specRecord({ spec }: Pick<NatRule, 'spec'>): string {
  return JSON.stringify(Object.fromEntries(SPEC_FIELDS.flatMap((field) => ((spec[field] ?? '') === '' ? [] : [[field, spec[field]]]))));
}

/** Undefined for a text that is no record: another program may have written it. */
export function recordedSpec(text: string): NatRuleSpec | undefined {
  const parsed = parsedJson(text);
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const held = new Map<string, unknown>(Object.entries(parsed));
  const fields = SPEC_FIELDS.filter((field) => held.has(field));
  if (held.size === 0 || fields.length !== held.size || fields.some((field) => typeof held.get(field) !== 'string')) return undefined;
  return Object.fromEntries(fields.map((field) => [field, String(held.get(field))]));
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface FormerSpec {
  readonly spec: NatRuleSpec;
  /** The first of the rows that carry it out. */
  readonly row: RowId;
}

/** Key: `<resource>/<name>` of a rule of OVN. Index `vip`: the Vip that the former spec names, with the resource: `<resource>/<vip>`. */
export const formerSpecs = defineTable<FormerSpec & { readonly resource: NatRuleResource }>(
  'nat-former-specs',
  (world) => prefixed(Object.fromEntries(natRulesOf('ovn-eips').map((resource) => [`${resource}/`, keysOf(world.natRules[resource])]))),
  (world, key) => {
    const at = key.indexOf('/');
    const resource = key.slice(0, at) as NatRuleResource;
    const rule = world.natRules[resource].get(key.slice(at + 1));
    if (rule === undefined || rule.metadata.deletionTimestamp !== undefined) return undefined;
    const found = formerSpec(world, resource, rule);
    return found === undefined ? undefined : { resource, ...found };
  },
  { vip: ({ resource, spec }) => [`${resource}/${vipOfRule({ spec })}`] },
);

function formerSpec(world: World, resource: NatRuleResource, rule: NatRule): FormerSpec | undefined {
  const { name, uid } = rule.metadata;
  const owner = ownerText({ kind: traitsOf(resource).kind.toLowerCase(), namespace: '', name, uid });
  const records = [...world.rows.ownedBy(owner)].toSorted().flatMap((row) => {
    const table = tableOf(row);
    const ownership = world.rows.state(row)?.ownership;
    if ((table !== 'NAT' && table !== 'Load_Balancer') || ownership?.kind !== 'ours' || ownership.uid !== uid) return [];
    const keys = world.rows.column(row, 'external_ids');
    const text: unknown = keys instanceof Map ? keys.get(SPEC_KEY) : undefined;
    return typeof text === 'string' ? [{ row, text }] : [];
  });
  const now = specRecord(rule);
  if (records.some(({ text }) => text === now)) return undefined;
  for (const { row, text } of records) {
    const spec = recordedSpec(text);
    if (spec !== undefined) return { spec, row };
  }
  return undefined;
}
