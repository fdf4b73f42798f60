/**
 * Other programs in the database that a user names by patterns, beside those that are known by their marks. A row that a pattern matches is
 * foreign, whatever keys of Kube-OVN it has; only Kiln's own ownership keys count more.
 */
import { BoundedPattern, LONGEST_TEXT } from '../text/bounded-pattern.ts';
import type { Row } from '../ovsdb/index.ts';
import type { Ownership } from './ownership.ts';
import { OWNER_KEY, VENDOR, VENDOR_KEY } from './ownership.ts';

/** One program, as it is configured. At least one of the patterns is there. */
export interface NeighbourPattern {
  readonly name: string;
  /** Matched with each pair of `external_ids`, written `key=value`. */
  readonly externalIds?: string;
  /** Matched with the row's name. */
  readonly names?: string;
}

const FIELDS: readonly string[] = ['name', 'externalIds', 'names'];

/** Whether a value has the form of one; `neighboursProblem` says whether it is valid. */
export function isNeighbourPattern(value: unknown): value is NeighbourPattern {
  if (typeof value !== 'object' || value === null || !('name' in value)) return false;
  return Object.entries(value).every(([field, text]) => FIELDS.includes(field) && typeof text === 'string');
}

interface Parsed {
  readonly name: string;
  readonly externalIds: BoundedPattern | undefined;
  readonly names: BoundedPattern | undefined;
}

const OVN_IC: Ownership = { kind: 'foreign', family: 'ovn-ic' };
/** More are no list that a person keeps up to date. */
const MOST_NEIGHBOURS = 50;
/** So many answers about names are remembered; rows repeat their keys. */
const REMEMBERED = 10_000;
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** What every row of Kiln, or of a Kube-OVN that Kiln takes over, has in its keys. */
const OWN_PAIRS: readonly string[] = [`${VENDOR_KEY}=${VENDOR}`, `${OWNER_KEY}=subnet//ovn-default`, `${OWNER_KEY}=pod/default/web-0`];

/** The switches that ovn-ic makes have its mark in `other_config`, and none in `external_ids`. */
export const TRANSIT_SWITCH_KEY = 'interconn-ts';

export class Neighbours {
  static readonly NONE = new Neighbours([]);
  readonly #neighbours: readonly Parsed[];
  readonly #ofPair = new Map<string, string | undefined>();

  private constructor(neighbours: readonly Parsed[]) {
    this.#neighbours = neighbours;
  }

  /** @throws Error with a sentence for the user; after `neighboursProblem` found none it throws none */
  static of(patterns: readonly NeighbourPattern[]): Neighbours {
    if (patterns.length === 0) return Neighbours.NONE;
    return new Neighbours(patterns.map(parsed));
  }

  get isEmpty(): boolean {
    return this.#neighbours.length === 0;
  }

  /** The ownership of a row, given what its keys and its parent show. */
  decide(row: Row, ownership: Ownership): Ownership {
    if (ownership.kind === 'ours') return ownership;
    const { other_config: config } = row;
    if (ownership.kind === 'foreign' && ownership.family === 'unknown' && config instanceof Map && config.has(TRANSIT_SWITCH_KEY))
      return OVN_IC;
    const name = this.of(row);
    return name === undefined ? ownership : { kind: 'foreign', family: 'configured', neighbour: name };
  }

  /** The name of the first program that a row matches, whoever owns it. */
  of({ name, external_ids: keys }: Row): string | undefined {
    if (this.#neighbours.length === 0) return undefined;
    if (typeof name === 'string' && name !== '') for (const one of this.#neighbours) if (one.names?.matches(name) === true) return one.name;
    if (!(keys instanceof Map)) return undefined;
    for (const [key, value] of keys) {
      const found = this.#ofKeyAndValue(`${String(key)}=${String(value)}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #ofKeyAndValue(pair: string): string | undefined {
    if (this.#ofPair.has(pair)) return this.#ofPair.get(pair);
    const text = pair.slice(0, LONGEST_TEXT);
    const found = this.#neighbours.find(({ externalIds }) => externalIds?.matches(text) === true)?.name;
    if (this.#ofPair.size >= REMEMBERED) this.#ofPair.clear();
    this.#ofPair.set(pair, found);
    return found;
  }
}

/**
 * What is wrong with the patterns; undefined: nothing.
 * @param own names of routers and switches that Kiln makes
 */
export function neighboursProblem(patterns: readonly NeighbourPattern[], own: readonly string[]): string | undefined {
  if (patterns.length > MOST_NEIGHBOURS) return `there are ${patterns.length} of them; at most ${MOST_NEIGHBOURS} are possible`;
  const names = new Set<string>();
  for (const one of patterns) {
    if (!NAME.test(one.name)) return `name "${one.name}" is not a name of lower-case letters, digits and hyphens, at most 63 characters`;
    if (names.has(one.name)) return `two are named ${one.name}`;
    names.add(one.name);
    if (one.externalIds === undefined && one.names === undefined)
      return `${one.name} has neither externalIds nor names, so it matches nothing`;
    let pattern: Parsed;
    try {
      pattern = parsed(one);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    const ownName = own.find((name) => name !== '' && pattern.names?.matches(name) === true);
    if (ownName !== undefined) return `${one.name}: names /${one.names ?? ''}/ matches ${ownName}, which is Kiln's own`;
    const ownPair = OWN_PAIRS.find((pair) => pattern.externalIds?.matches(pair) === true);
    if (ownPair !== undefined) return `${one.name}: externalIds /${one.externalIds ?? ''}/ matches ${ownPair}, which Kiln's own rows have`;
  }
  return undefined;
}

function parsed({ name, externalIds, names }: NeighbourPattern): Parsed {
  const of = (field: string, source: string | undefined): BoundedPattern | undefined => {
    if (source === undefined) return undefined;
    const read = BoundedPattern.parse(source);
    if (!read.ok) throw new Error(`${name}: ${field} /${source}/ ${read.problem}`);
    return read.pattern;
  };
  return { name, externalIds: of('externalIds', externalIds), names: of('names', names) };
}
