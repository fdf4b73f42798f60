/**
 * A history: bursts of operations, each at its time, and the faults meanwhile. Drawn from a seed, and printed in a form that a person can
 * read.
 */

/** The objects of all histories. Few, so that operations meet on the same ones. */
export const VPCS = ['chaos-v1', 'chaos-v2'] as const;
export const NAMESPACES = ['chaos-a', 'chaos-b'] as const;
export const PODS = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'] as const;
export const POOLS = ['chaos-pool'] as const;
/** Two Vpcs have Subnets with overlapping networks, one Subnet is too small for all pods, and one is in the default Vpc. */
export const SUBNETS: Readonly<Record<string, object>> = {
  'chaos-s1': { vpc: 'chaos-v1', cidrBlock: '10.220.1.0/29' },
  'chaos-s2': { vpc: 'chaos-v1', cidrBlock: '10.220.2.0/24', namespaces: ['chaos-a'] },
  'chaos-s3': { vpc: 'chaos-v2', cidrBlock: '10.220.1.0/28,fd00:220:1::/64', namespaces: ['chaos-b'] },
  'chaos-s4': { cidrBlock: '10.221.4.0/28' },
};

export type Kind = 'vpcs' | 'subnets' | 'ippools' | 'pods' | 'ips';

/** `namespace/name`, or `name` for cluster scope. */
export interface Target {
  readonly kind: Kind;
  readonly key: string;
}

export type Operation = Target &
  (
    | { readonly verb: 'create'; readonly annotations?: Readonly<Record<string, string>> }
    | { readonly verb: 'delete' }
    /** Deleted, and its finalizers removed by hand. */
    | { readonly verb: 'tear out' }
    | { readonly verb: 'strip finalizers' }
    /** Deleted without grace period. */
    | { readonly verb: 'force delete' }
    | { readonly verb: 'edit'; readonly spec: object }
    | { readonly verb: 'annotate'; readonly annotations: Readonly<Record<string, string | null>> }
  );

export type Fault =
  | 'kill -9 the controller'
  | 'kill -9 the Northbound database'
  | 'kill -9 kube-apiserver'
  | 'a second controller'
  | 'stop the leader past its Lease, then wake it'
  | 'somebody takes the term';

export interface Moment<T> {
  /** Milliseconds since the start of the burst. */
  readonly at: number;
  readonly what: T;
}

export interface Burst {
  readonly operations: readonly Moment<Operation>[];
  readonly fault: Moment<Fault> | undefined;
}

export interface History {
  readonly seed: number;
  readonly bursts: readonly Burst[];
  /** The order in which everything is deleted in the end. */
  readonly ending: readonly Target[];
  /** Whether no controller runs during these deletions. */
  readonly endsUnattended: boolean;
}

/** @param faults those that are possible on the cluster it is played on */
export function drawHistory(seed: number, faults: readonly Fault[]): History {
  const dice = new Dice(seed);
  const bursts = Array.from({ length: dice.between(2, 4) }, (_, at): Burst => {
    const operations = Array.from({ length: at === 0 ? dice.between(8, 16) : dice.between(3, 10) }, () => {
      const what = at === 0 && dice.chance(0.8) ? create(dice) : operation(dice);
      return { at: dice.between(0, 250), what };
    });
    const fault = dice.chance(0.6) ? { at: dice.between(0, 250), what: dice.of(faults) } : undefined;
    return { operations: operations.toSorted((a, b) => a.at - b.at), fault };
  });
  return { seed, bursts, ending: dice.shuffled(EVERYTHING), endsUnattended: dice.chance(0.3) };
}

const POD_KEYS = NAMESPACES.flatMap((namespace) => PODS.map((name) => `${namespace}/${name}`));
const EVERYTHING: readonly Target[] = [
  ...VPCS.map((key) => ({ kind: 'vpcs', key }) as const),
  ...Object.keys(SUBNETS).map((key) => ({ kind: 'subnets', key }) as const),
  ...POOLS.map((key) => ({ kind: 'ippools', key }) as const),
  ...POD_KEYS.map((key) => ({ kind: 'pods', key }) as const),
];

function create(dice: Dice): Operation {
  const target = dice.chance(0.45)
    ? dice.of(EVERYTHING.filter(({ kind }) => kind !== 'pods'))
    : dice.of(EVERYTHING.filter(({ kind }) => kind === 'pods'));
  if (target.kind !== 'pods' || dice.chance(0.5)) return { ...target, verb: 'create' };
  return { ...target, verb: 'create', annotations: request(dice) };
}

function request(dice: Dice): Readonly<Record<string, string>> {
  return dice.of([
    { 'ovn.kubernetes.io/logical_switch': dice.of(Object.keys(SUBNETS)) },
    { 'ovn.kubernetes.io/logical_switch': 'chaos-s1', 'ovn.kubernetes.io/ip_address': `10.220.1.${dice.between(0, 8)}` },
    { 'ovn.kubernetes.io/ip_address': `10.220.2.${dice.between(2, 5)}` },
    { 'ovn.kubernetes.io/ip_pool': 'chaos-pool' },
    { 'ovn.kubernetes.io/ip_address': 'nonsense' },
  ]);
}

function operation(dice: Dice): Operation {
  const target = dice.chance(0.15) ? ipOf(dice) : dice.of(EVERYTHING);
  const roll = dice.between(0, 99);
  if (roll < 30) return create(dice);
  if (roll < 55) return { ...target, verb: 'delete' };
  if (roll < 68) return { ...target, verb: 'tear out' };
  if (roll < 74) return { ...target, verb: 'strip finalizers' };
  if (roll < 82) return { kind: 'pods', key: dice.of(POD_KEYS), verb: 'force delete' };
  if (roll < 88)
    return {
      kind: 'pods',
      key: dice.of(POD_KEYS),
      verb: 'annotate',
      annotations: { 'ovn.kubernetes.io/port_security': dice.of(['true', 'nonsense']) },
    };
  return edit(dice);
}

function ipOf(dice: Dice): Target {
  const [namespace = '', name = ''] = dice.of(POD_KEYS).split('/');
  return { kind: 'ips', key: `${name}.${namespace}` };
}

function edit(dice: Dice): Operation {
  if (dice.chance(0.3)) {
    const spec = dice.of([
      { staticRoutes: [{ cidr: '10.230.0.0/16', nextHopIP: '10.220.2.9' }] },
      { staticRoutes: [{ cidr: 'nonsense', nextHopIP: 'nonsense' }] },
      { policyRoutes: [{ priority: 100, match: 'ip4.src == 10.220.2.0/24', action: 'drop' }] },
      { staticRoutes: null, policyRoutes: null },
    ]);
    return { kind: 'vpcs', key: dice.of(VPCS), verb: 'edit', spec };
  }
  const key = dice.of(Object.keys(SUBNETS));
  const spec = dice.of<object>([
    { private: dice.chance(0.5) },
    { excludeIps: ['10.220.2.3..10.220.2.6'] },
    { cidrBlock: 'nonsense' },
    { gateway: 'nonsense' },
    { vpc: dice.of([...VPCS, 'chaos-nowhere']) },
    // The spec that it is created with.
    SUBNETS[key] ?? {},
    SUBNETS[key] ?? {},
  ]);
  return { kind: 'subnets', key, verb: 'edit', spec };
}

/** The history as text, for a person and for an issue. */
export function historyText({ seed, bursts, ending, endsUnattended }: History): string {
  const operationText = ({ verb, kind, key, ...more }: Operation): string =>
    `${verb} ${kind} ${key}${Object.keys(more).length === 0 ? '' : ` ${JSON.stringify(more)}`}`;
  return [
    `seed ${seed}`,
    ...bursts.flatMap(({ operations, fault }, index) => [
      `burst ${index + 1}${fault === undefined ? '' : `, and after ${fault.at} ms: ${fault.what}`}`,
      ...operations.map(({ at, what }) => `  ${String(at).padStart(4)} ms  ${operationText(what)}`),
    ]),
    `in the end${endsUnattended ? ', while no controller runs,' : ''} delete ${ending.map(({ key }) => key).join(', ')}`,
  ].join('\n');
}

/** Mulberry32: 32 bits of state, the same on every machine. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  /** Both bounds included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  of<T>(some: readonly T[]): T {
    const chosen = some[this.between(0, some.length - 1)];
    if (chosen === undefined) throw new RangeError('nothing to choose from');
    return chosen;
  }

  shuffled<T>(some: readonly T[]): readonly T[] {
    return some
      .map((one) => [this.#next(), one] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, one]) => one);
  }
}
