/**
 * What holds what: the one table that deletion, its conditions and explanations read. A kind that comes later adds its lines.
 */
import { isOvnProvider } from '../api/names.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

/** Objects of one kind keep an object of another from going. */
interface Hold {
  readonly held: ResourceName;
  readonly holder: ResourceName;
  /** Keys of the holders, by an index of the World. Live or not: one that terminates holds until it is gone. */
  readonly holders: (world: World, key: string) => Iterable<string>;
}

const HOLDS: readonly Hold[] = [
  {
    held: 'vpcs',
    holder: 'subnets',
    holders: (world, vpc) => [...world.subnetVpcs.in(vpc)].filter((name) => isOvnProvider(world.subnets.get(name)?.spec.provider ?? '')),
  },
  { held: 'subnets', holder: 'ips', holders: (world, subnet) => world.ips.bucket('subnet', subnet) },
];

/** Longest list of names that a sentence gives. */
const NAMED = 10;

export interface Blockers {
  readonly count: number;
  /** `<kind> <key>` of the first ten, sorted. */
  readonly names: readonly string[];
}

const NONE: Blockers = { count: 0, names: [] };

/** What keeps an object from going. */
export function blockersOf(world: World, resource: ResourceName, key: string): Blockers {
  const names: string[] = [];
  let count = 0;
  for (const { held, holder, holders } of HOLDS) {
    if (held !== resource) continue;
    const first: string[] = [];
    for (const name of holders(world, key)) {
      count++;
      keepFirst(first, name);
    }
    names.push(...first.map((name) => `${traitsOf(holder).kind} ${name}`));
  }
  return count === 0 ? NONE : { count, names: names.slice(0, NAMED) };
}

/** Keeps the first ten in order; holders may be very many, so they are not all sorted. */
function keepFirst(first: string[], name: string): void {
  if (first.length === NAMED && name >= (first[NAMED - 1] as string)) return;
  const at = first.findIndex((other) => name < other);
  first.splice(at === -1 ? first.length : at, 0, name);
  if (first.length > NAMED) first.pop();
}

/** For a person: what is in the way, and what to do next. */
export function blockedSentence(resource: ResourceName, key: string, { count, names }: Blockers): string {
  const { kind, plural } = traitsOf(resource);
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const things = count === 1 ? 'one object still uses it' : `${count} objects still use it`;
  return `${kind} ${key} cannot be deleted: ${things}: ${names.join(', ')}${more}. It goes when ${count === 1 ? 'that is' : 'they are'} gone; kubectl get ${plural} ${key} shows the state`;
}
