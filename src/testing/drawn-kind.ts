/** The part `simulator` of the record of a kind: what the simulator draws of it (`test/sim/draw`). Only tests import it. */
export interface Draws {
  /** An integer from 0 to below the limit. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Plain JSON. */
export interface DrawnSpec {
  [field: string]: DrawnValue;
}
export type DrawnValue = string | number | boolean | null | DrawnSpec | DrawnValue[];

export interface DrawnKind {
  /** How often an operation is about the kind, beside the other kinds: pods have 40, Subnets 14. */
  readonly weight: number;
  /** Names of its objects: few, so that operations meet the effects of earlier ones. */
  readonly names: readonly string[];
  /** The spec of a new object. */
  readonly spec?: (draws: Draws) => DrawnSpec;
  /** Instead: a new object, of which more is drawn. Its metadata has its name, and its namespace if it has one. */
  readonly object?: (draws: Draws, present: Present) => DrawnSpec;
  /** A merge patch of the spec of an object; without it, a new spec. */
  readonly edit?: (draws: Draws) => DrawnSpec;
  /** Instead: a merge patch of an object, or of its status. Without any of these, it is created again. */
  readonly patch?: (draws: Draws, name: string) => DrawnPatch;
}

export interface DrawnPatch {
  readonly patch: DrawnSpec;
  readonly isOfStatus?: true;
}

/** What exists when something is drawn. */
export interface Present {
  /** @param table `plural.group`, or the plural name of a kind of Kubernetes itself */
  uidOf(table: string, key: string): string | undefined;
}

/** Names that the objects of several kinds have in common. */
export const NAMES = {
  vpcs: names('v', 4),
  subnets: names('s', 8),
  namespaces: names('ns', 4),
  nodes: names('n', 4),
  pods: names('p', 8),
  machines: names('vm', 2),
  networks: names('net', 2),
} as const;

export function names(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${letter}${at}`);
}

/** At least one of them. */
export function some(draws: Draws, items: readonly string[]): string[] {
  const found = items.filter(() => draws.chance(0.4));
  return found.length === 0 ? [draws.pick(items)] : found;
}

export function podSpec(): DrawnSpec {
  return { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 1 };
}

/** Of several families, in and out of the networks that are drawn, and one typing error. */
export function someAddress(draws: Draws): string {
  return draws.pick([
    '10.1.0.2',
    '10.1.0.3',
    '10.1.0.6',
    '10.1.1.10',
    '10.1.1.11',
    '10.2.0.3',
    '10.3.0.7',
    'fd00:1::5',
    '10.4.0.2,fd00:4::2',
    '10.99.0.1',
    'oops',
  ]);
}

/** The spec of a Vip or an EIP. */
export function addressSpec(draws: Draws, subnet: string, address: string): DrawnSpec {
  const spec: DrawnSpec = { [subnet]: draws.pick(NAMES.subnets) };
  if (draws.chance(0.5)) spec[address] = draws.pick(['10.1.0.2', '10.1.0.3', '10.1.1.10', '10.2.0.3']);
  return spec;
}
