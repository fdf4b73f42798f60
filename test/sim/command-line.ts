/** The options of `npm run sim`. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

export const HELP = `npm run sim -- [OPTION]...

Draws lives of a simulated cluster from seeds, on all cores, and runs all checks whenever it has converged.

  --seed N         first seed; each life takes the next (default: from the clock)
  --operations N   operations in all (default 100000)
  --minutes M      begin lives for so long instead; --hours H likewise. What is
                   found is made short for at most half a minute beyond that
  --life N         operations of one life (default 500)
  --workers N      lives at a time (default: as many as there are cores)
  --namespaced     controllers with --tenancy=namespaced, checked by what holds with it too
  --neighbours     rows of Neutron, ovn-kubernetes and others in the database (otherwise: in each third life)
  --keep-going     do not end with the first life that fails
  --out DIR        where histories of failures go (default .kiln/sim)
  --no-shrink      keep a failing history as it is
  --replay FILE    do one history again
  --trace          print everything that happens; one life at a time
  --help

Each minute it says on standard error how far it is. Ctrl-C lets lives under way end and says what ran; once more ends it at once.

Exit codes: 0 all went well, 1 a life failed, 2 the command line is wrong.`;

export interface Flags {
  readonly seed: number;
  readonly operations: number;
  /** Undefined: until all operations are done. */
  readonly forMs: number | undefined;
  readonly life: number;
  readonly workers: number;
  readonly namespaced: boolean;
  readonly neighbours: boolean;
  readonly keepGoing: boolean;
  readonly out: string;
  readonly shrink: boolean;
  readonly replay: string | undefined;
  readonly trace: boolean;
}

/** Options with a number: its smallest value and its default. */
const NUMBERS = {
  seed: { rule: 'a whole number of at least 0', isRight: (value: number) => isWhole(value, 0), usual: 7 },
  operations: { rule: 'a whole number of at least 1', isRight: (value: number) => isWhole(value, 1), usual: 100_000 },
  hours: { rule: 'a number above 0', isRight: (value: number) => value > 0, usual: 8 },
  minutes: { rule: 'a number above 0', isRight: (value: number) => value > 0, usual: 10 },
  life: { rule: 'a whole number of at least 1', isRight: (value: number) => isWhole(value, 1), usual: 500 },
  workers: { rule: 'a whole number of at least 1', isRight: (value: number) => isWhole(value, 1), usual: 2 },
} as const;

function isWhole(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}

function numberIn(name: keyof typeof NUMBERS, text: string): number {
  const { rule, isRight, usual } = NUMBERS[name];
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (isRight(value)) return value;
  throw new TypeError(`--${name} "${text}": it is ${rule}, such as --${name} ${usual}; npm run sim -- --help names all options`);
}

/** A negative value must be joined to its option; separate, it would be taken for an option. */
function withNegatives(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1) ?? '';
    if (/^-\d/.test(arg) && before.startsWith('--') && before.slice(2) in NUMBERS) joined.splice(-1, 1, `${before}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

export function flagsOf(args: readonly string[]): Flags | 'help' {
  const { values } = parseArgs({
    args: withNegatives(args),
    options: {
      seed: { type: 'string' },
      operations: { type: 'string' },
      hours: { type: 'string' },
      minutes: { type: 'string' },
      life: { type: 'string' },
      workers: { type: 'string' },
      namespaced: { type: 'boolean' },
      neighbours: { type: 'boolean' },
      'keep-going': { type: 'boolean' },
      out: { type: 'string' },
      'no-shrink': { type: 'boolean' },
      replay: { type: 'string' },
      trace: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  const number = (name: keyof typeof NUMBERS, otherwise: number): number => {
    const text = values[name];
    return text === undefined ? otherwise : numberIn(name, text);
  };
  const timed = values.hours !== undefined || values.minutes !== undefined;
  return {
    seed: number('seed', Date.now() % 1_000_000_000),
    operations: number('operations', 100_000),
    forMs: timed ? number('hours', 0) * 3_600_000 + number('minutes', 0) * 60_000 : undefined,
    life: number('life', 500),
    workers: Math.min(number('workers', availableParallelism()), values.trace === true ? 1 : Infinity),
    namespaced: values.namespaced === true,
    neighbours: values.neighbours === true,
    keepGoing: values['keep-going'] === true,
    out: values.out ?? '.kiln/sim',
    shrink: values['no-shrink'] !== true,
    replay: values.replay,
    trace: values.trace === true,
  };
}
