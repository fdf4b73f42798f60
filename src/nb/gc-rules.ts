/**
 * How rows that nothing explains are treated: collected (`on`), listed and left (`report`), or left without a word (`off`). A user sets it
 * for the whole database, for tables and names (these rules), and for a Vpc or a Namespace (annotation `kiln.io/gc`). Pure.
 */
import { BoundedPattern, LONGEST_TEXT } from '../text/bounded-pattern.ts';
import { TABLES } from './tables.ts';

export const GC_MODES = ['on', 'report', 'off'] as const;
export type GcMode = (typeof GC_MODES)[number];

export function isGcMode(text: string): text is GcMode {
  return GC_MODES.some((mode) => mode === text);
}

/** The more careful of two. */
export function carefulOf(one: GcMode, other: GcMode): GcMode {
  return GC_MODES.indexOf(one) > GC_MODES.indexOf(other) ? one : other;
}

/** One rule, as it is configured. At least one of table, names and owners is there; a row has to fit all that are. */
export interface GcRule {
  readonly mode: GcMode;
  /** A table of the Northbound database that Kiln writes. */
  readonly table?: string;
  /** Matched with the row's name: that of its identity, as `kiln gc plan` prints it. */
  readonly names?: string;
  /** Matched with `<kind>/<namespace>/<name>` of the object that owned it; a cluster-scoped one has an empty namespace. */
  readonly owners?: string;
}

const FIELDS: readonly string[] = ['mode', 'table', 'names', 'owners'];
/** More are no list that a person keeps up to date. */
const MOST_RULES = 50;

/** Whether a value has the form of one; `gcRulesProblem` says whether it is valid. */
export function isGcRule(value: unknown): value is GcRule {
  if (typeof value !== 'object' || value === null || !('mode' in value)) return false;
  return Object.entries(value).every(([field, text]) => FIELDS.includes(field) && typeof text === 'string');
}

/** What is wrong with the rules; undefined: nothing. */
export function gcRulesProblem(rules: readonly GcRule[]): string | undefined {
  if (rules.length > MOST_RULES) return `there are ${rules.length} of them; at most ${MOST_RULES} are possible`;
  const known = TABLES.map(({ table }) => table);
  for (const { mode, table, names, owners } of rules) {
    if (!isGcMode(mode)) return `mode "${String(mode)}" is none of ${GC_MODES.join(', ')}`;
    if (mode === 'on')
      return 'mode on would have no effect: of several settings for a row the most careful is in effect, and on is the least';
    if (table === undefined && names === undefined && owners === undefined)
      return `a rule with mode ${mode} has neither table nor names nor owners; --gc=${mode} is for all rows`;
    if (table !== undefined && !known.includes(table)) return `"${table}" is no table that Kiln writes; these are ${known.join(', ')}`;
    for (const [field, source] of [
      ['names', names],
      ['owners', owners],
    ] as const) {
      const read = source === undefined ? undefined : BoundedPattern.parse(source);
      if (read?.ok === false) return `${field} /${source ?? ''}/ ${read.problem}`;
    }
  }
  return undefined;
}

interface Parsed {
  readonly rule: GcRule;
  readonly names: BoundedPattern | undefined;
  readonly owners: BoundedPattern | undefined;
}

export class GcRules {
  readonly #rules: readonly Parsed[];

  /** @throws Error for a pattern that is none; after `gcRulesProblem` found nothing it throws none */
  constructor(rules: readonly GcRule[]) {
    this.#rules = rules.map((rule) => ({ rule, names: patternOf(rule.names), owners: patternOf(rule.owners) }));
  }

  /** The most careful rule about owners alone: for what is no row. */
  ofOwner(owner: string): GcRule | undefined {
    let found: GcRule | undefined;
    for (const { rule, owners } of this.#rules) {
      if (rule.table !== undefined || rule.names !== undefined || owners?.matches(owner.slice(0, LONGEST_TEXT)) !== true) continue;
      if (found === undefined || carefulOf(rule.mode, found.mode) !== found.mode) found = rule;
    }
    return found;
  }

  /** The most careful rule that a row fits. */
  of(table: string, name: string, owner: string): GcRule | undefined {
    let found: GcRule | undefined;
    for (const { rule, names, owners } of this.#rules) {
      if (rule.table !== undefined && rule.table !== table) continue;
      if (names?.matches(name.slice(0, LONGEST_TEXT)) === false) continue;
      if (owners?.matches(owner.slice(0, LONGEST_TEXT)) === false) continue;
      if (found === undefined || (carefulOf(rule.mode, found.mode) === rule.mode && rule.mode !== found.mode)) found = rule;
    }
    return found;
  }
}

function patternOf(source: string | undefined): BoundedPattern | undefined {
  if (source === undefined) return undefined;
  const read = BoundedPattern.parse(source);
  if (!read.ok) throw new Error(`/${source}/ ${read.problem}`);
  return read.pattern;
}
