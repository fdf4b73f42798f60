/**
 * What the CEL rules of our definitions demand, checked here: an API server before 1.25 does not know them, so Kiln tells of what they would
 * have refused. A test holds that each rule has its check, and that the two agree.
 */
import type { Finding, Subject } from '../validation/finding.ts';
import { Findings } from '../validation/finding.ts';
import type { Kind } from '../schema/kind.ts';
import type { CelRule, SchemaNode } from '../schema/schema.ts';

/** Whether a value keeps a rule. `old` is there on a change, for rules that compare. */
type Check = (self: unknown, old: unknown) => boolean;

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function size(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

const enoughAddresses =
  (field: string): Check =>
  (self) =>
    size(fields(self)[field]) === 0 || size(fields(self)[field]) >= Number(fields(self)['replicas'] ?? 1);

const listOrPool =
  (addresses: string, pool: string): Check =>
  (self) =>
    size(fields(self)[addresses]) === 0 || (fields(self)[pool] ?? '') === '';

const UNCHANGED = 'self == oldSelf';

/** By the text of the rule. */
export const CEL_CHECKS: Readonly<Record<string, Check>> = {
  [UNCHANGED]: (self, old) => old === undefined || self === old,
  'has(self.start) && has(self.end) && self.start <= self.end': (self) => {
    const { start, end } = fields(self);
    return start !== undefined && end !== undefined && Number(start) <= Number(end);
  },
  'type(self) != int || (self >= 0 && self <= 9223372036854)': (self) =>
    (typeof self !== 'number' && typeof self !== 'bigint') || (self >= 0 && self <= 9_223_372_036_854),
  'has(self.subnets) || has(self.ipBlocks)': (self) => 'subnets' in fields(self) || 'ipBlocks' in fields(self),
  'has(self.matchExpressions) || has(self.matchLabels)': (self) => 'matchExpressions' in fields(self) || 'matchLabels' in fields(self),
  '!has(self.internalIPs) || self.internalIPs.size() == 0 || self.internalIPs.size() >= self.replicas': enoughAddresses('internalIPs'),
  '!has(self.externalIPs) || self.externalIPs.size() == 0 || self.externalIPs.size() >= self.replicas': enoughAddresses('externalIPs'),
  '!has(self.internalIPs) || self.internalIPs.size() == 0 || !has(self.internalIPPool) || self.internalIPPool.size() == 0': listOrPool(
    'internalIPs',
    'internalIPPool',
  ),
  '!has(self.externalIPs) || self.externalIPs.size() == 0 || !has(self.externalIPPool) || self.externalIPPool.size() == 0': listOrPool(
    'externalIPs',
    'externalIPPool',
  ),
  '(has(self.selectors) && self.selectors.size() > 0) || (has(self.policies) && self.policies.size() > 0)': (self) =>
    size(fields(self)['selectors']) > 0 || size(fields(self)['policies']) > 0,
};

/** @param old the spec before a change; without it, rules that compare hold */
export function celFindings(kind: Kind<unknown, unknown>, subject: Subject, spec: unknown, old?: unknown): readonly Finding[] {
  const findings = new Findings(subject);
  visit(kind.spec.node, spec, old, 'spec', findings);
  return findings.list;
}

function visit(node: SchemaNode, value: unknown, old: unknown, path: string, findings: Findings): void {
  if (value === undefined || value === null) return;
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    if (CEL_CHECKS[rule.rule]?.(value, old) === false) findings.add(breach(rule, value, path));
  }
  const { items, properties, additionalProperties } = node;
  if (Array.isArray(value)) {
    // An element of a list has no former self that could be told.
    if (items !== undefined) for (const [index, item] of value.entries()) visit(items, item, undefined, `${path}[${index}]`, findings);
    return;
  }
  if (typeof value !== 'object') return;
  for (const [name, member] of Object.entries(value)) {
    const child = properties?.[name] ?? additionalProperties;
    if (child !== undefined) visit(child, member, fields(old)[name], `${path}.${name}`, findings);
  }
}

function breach({ rule, message, fieldPath = '' }: CelRule, value: unknown, path: string): Parameters<Findings['add']>[0] {
  const at = fieldPath === '' ? value : fields(value)[fieldPath.slice(1)];
  const text =
    typeof at === 'string' ? at : JSON.stringify(at ?? null, (_key, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));
  const code = rule === UNCHANGED ? 'Immutable' : 'Invalid';
  return { code, field: `${path}${fieldPath}`, value: text, problem: 'is not allowed', rule: message };
}
