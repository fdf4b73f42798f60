/** Evaluates the CEL rules of a schema (`x-kubernetes-validations`) for a value and its previous value. */
import type { CelProgram, CelValue } from './cel.ts';
import { celValue, compileCel } from './cel.ts';
import type { Finding, Subject } from '../validation/finding.ts';
import { Findings } from '../validation/finding.ts';
import type { Kind } from '../schema/kind.ts';
import type { CelRule, SchemaNode } from '../schema/schema.ts';

/** A rule that a value breaks. */
export interface BrokenRule {
  readonly rule: CelRule;
  readonly comparesWithOld: boolean;
  /** Path of the value with the rule, such as `spec.policies[0]`. */
  readonly path: string;
  readonly value: unknown;
  /** Set if the rule could not be evaluated for this value. */
  readonly error?: string;
}

/**
 * @param old the value before a change; without it, rules that read `oldSelf` are skipped. Rules that do not compile are skipped as well
 */
export function brokenRules(node: SchemaNode, value: unknown, old: unknown, path: string): readonly BrokenRule[] {
  const broken: BrokenRule[] = [];
  visit(node, value, old, path, broken);
  return broken;
}

/** Whether the definition of a kind has rules for its spec. */
export function hasCelRules(kind: Kind<unknown, unknown>): boolean {
  return hasRules(kind.spec.node);
}

/** The broken CEL rules of one of Kiln's CRDs, as findings. */
export function celFindings(kind: Kind<unknown, unknown>, subject: Subject, spec: unknown, old?: unknown): readonly Finding[] {
  const findings = new Findings(subject);
  for (const { rule, comparesWithOld, path, value } of brokenRules(kind.spec.node, spec, old, 'spec')) {
    const { message, fieldPath = '' } = rule;
    const at = fieldPath === '' ? value : fields(value)[fieldPath.slice(1)];
    const code = comparesWithOld ? 'Immutable' : 'Invalid';
    findings.add({ code, field: `${path}${fieldPath}`, value: text(at), problem: 'is not allowed', rule: message });
  }
  return findings.list;
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value ?? null, (_key, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));
}

function visit(node: SchemaNode, value: unknown, old: unknown, path: string, broken: BrokenRule[]): void {
  if (value === undefined || value === null || !hasRules(node)) return;
  let self: CelValue | undefined;
  for (const rule of node['x-kubernetes-validations'] ?? []) {
    const program = programOf(rule);
    if (program === undefined || (program.comparesWithOld && old === undefined)) continue;
    const { comparesWithOld } = program;
    self ??= celValue(node, value);
    try {
      if (!program.holds(self, comparesWithOld ? celValue(node, old) : undefined)) broken.push({ rule, comparesWithOld, path, value });
    } catch (error) {
      broken.push({ rule, comparesWithOld, path, value, error: error instanceof Error ? error.message : String(error) });
    }
  }
  const { items, properties, additionalProperties } = node;
  if (Array.isArray(value)) {
    if (items !== undefined)
      for (const [index, item] of value.entries()) visit(items, item, counterpart(node, item, old), `${path}[${index}]`, broken);
    return;
  }
  if (typeof value !== 'object') return;
  for (const [name, member] of Object.entries(value)) {
    const child = properties?.[name] ?? additionalProperties;
    if (typeof child === 'object') visit(child, member, fields(old)[name], path === '' ? name : `${path}.${name}`, broken);
  }
}

/** The previous value of a list element, found by the list's map keys; undefined for a list without keys. */
function counterpart(node: SchemaNode, item: unknown, old: unknown): unknown {
  if (node['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined;
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  return old.find((before) => keys.every((key) => fields(before)[key] === fields(item)[key]));
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

const programs = new WeakMap<CelRule, CelProgram | 'unreadable'>();

function programOf(rule: CelRule): CelProgram | undefined {
  let program = programs.get(rule);
  if (program === undefined) {
    try {
      program = compileCel(rule.rule);
    } catch {
      program = 'unreadable';
    }
    programs.set(rule, program);
  }
  return program === 'unreadable' ? undefined : program;
}

const ruled = new WeakMap<SchemaNode, boolean>();

/** Whether the node or a descendant has rules. */
function hasRules(node: SchemaNode): boolean {
  const known = ruled.get(node);
  if (known !== undefined) return known;
  const children = [node.items, node.additionalProperties, ...Object.values(node.properties ?? {})];
  const rules = node['x-kubernetes-validations'] ?? [];
  const has = rules.length > 0 || children.some((child) => typeof child === 'object' && hasRules(child));
  ruled.set(node, has);
  return has;
}
