/**
 * Subnets change while they are in use: the CIDR grows, shrinks and moves step by step; excludes and pools are added, changed and removed;
 * the Subnet
 * is deleted and created again. Meanwhile interfaces get reservation, IP object, pod and row one by one, are edited by hand, change their
 * UID, and release in any order. The ledger stays equal to the plain oracle.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { macFromNumber } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { Holder, HolderKind } from './holder.ts';
import { Pair } from './testing/ledger-pair.ts';
import { parseSubnetFields } from './subnet-spec.ts';

/** The next step; the numbers choose among what exists at that time. */
interface Step {
  readonly what: (typeof subnetSteps)[number] | (typeof interfaceSteps)[number];
  readonly interface: number;
  readonly a: number;
  readonly b: number;
}

const subnetSteps = ['widen', 'narrow', 'move', 'gateway', 'exclude', 'include', 'pool', 'unpool', 'repool', 'go', 'come'] as const;
const interfaceSteps = ['reserve', 'ask', 'ip', 'pod', 'row', 'share', 'edit', 'recreate', 'release', 'end'] as const;

const often = (weight: number, ...what: Step['what'][]): fc.WeightedArbitrary<Step['what']> => ({
  weight,
  arbitrary: fc.constantFrom(...what),
});
const step: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    often(10, 'widen', 'narrow', 'move', 'gateway', 'exclude', 'include', 'include', 'pool', 'unpool', 'unpool', 'repool'),
    often(1, 'go'),
    often(6, 'widen', 'come'),
    often(60, 'reserve', 'reserve', 'ask'),
    often(50, 'ip', 'pod', 'row'),
    often(50, 'release', 'recreate', 'end', 'end'),
    often(6, 'edit', 'share'),
  ),
  interface: fc.nat(29),
  a: fc.nat(0xffff),
  b: fc.nat(0xffff),
});

interface Binding {
  readonly addresses: readonly Address[];
  readonly mac: Mac | undefined;
}

/** A prefix in steps from the narrowest, and which of the blocks of that length in the widest one. */
interface Block {
  width: number;
  index: number;
}

/** Prefix lengths from the narrowest: the widest of IPv6 holds more than a number can count. */
const widths = { 4: [31, 30, 29, 28, 27, 26], 6: [127, 126, 125, 124, 123, 64] } as const;

class Life {
  readonly pair: Pair;
  readonly #families: readonly (4 | 6)[];
  readonly #blocks: Record<4 | 6, Block> = { 4: { width: 3, index: 0 }, 6: { width: 3, index: 0 } };
  #gateway = 1;
  #excludes: string[] = [];
  #pools: { name: string; ips: string[] }[] = [];
  #there = true;
  /** By interface: the last allocation, and how often its pod was created again. */
  readonly #given = new Map<number, Binding>();
  readonly #generation = new Map<number, number>();
  #made = 0;

  constructor(families: readonly (4 | 6)[], rememberFreed: number) {
    this.#families = families;
    this.pair = new Pair(rememberFreed);
    this.#upsert();
  }

  take({ what, interface: n, a, b }: Step): void {
    switch (what) {
      case 'widen':
      case 'narrow':
      case 'move':
        this.#reshape(what, a, b);
        return this.#upsert();
      case 'gateway':
        this.#gateway = a % 40;
        return this.#upsert();
      case 'exclude':
        this.#excludes.push(...this.#ranges(a, b, '..'));
        return this.#upsert();
      case 'include':
        this.#excludes.splice(a % (this.#excludes.length + 1), 1 + (b % 2));
        return this.#upsert();
      case 'pool':
        this.#pools.push({ name: `p${this.#made++}`, ips: this.#ranges(a, b, '..') });
        return this.#upsert();
      case 'unpool':
        this.#pools.splice(a % (this.#pools.length + 1), 1);
        return this.#upsert();
      case 'repool':
        this.#pools = this.#pools.map((pool, index) =>
          index === a % this.#pools.length ? { ...pool, ips: this.#ranges(b, a, '..') } : pool,
        );
        return this.#upsert();
      case 'go':
        this.#there = false;
        this.pair.perform({ op: 'remove', subnet: 's' });
        return undefined;
      case 'come':
        this.#there = true;
        return this.#upsert();
      case 'reserve':
        return this.#reserve(n, a % 3 === 0 ? this.#poolNames(b) : undefined, undefined);
      case 'ask':
        return this.#reserve(n, undefined, a);
      case 'ip':
      case 'pod':
      case 'row':
        return this.#hold(n, what, this.#given.get(n));
      case 'share':
        return this.#hold(n, 'vip', this.#given.get(n - 1), `group-${a % 2}`);
      case 'edit':
        return this.#hold(n, b % 2 === 0 ? 'ip' : 'pod', { addresses: this.#named(a), mac: b % 3 === 0 ? macOf(a % 30) : undefined });
      case 'recreate': {
        const before = this.#holder(n, 'pod');
        this.#generation.set(n, (this.#generation.get(n) ?? 0) + 1);
        this.#hold(n, 'pod', this.#given.get(n));
        return this.#release(before);
      }
      case 'release':
        return this.#release(this.#holder(n, kinds[a % kinds.length] ?? 'ip'));
      case 'end':
        for (let turn = 0; turn < kinds.length; turn++) this.#release(this.#holder(n, kinds[(a + turn) % kinds.length] ?? 'ip'));
    }
  }

  #upsert(): void {
    if (!this.#there) return;
    const cidrBlock = this.#families.map((family) => `${this.#address(family, 0)}/${widths[family][this.#blocks[family].width]}`).join(',');
    const gateway = this.#families.map((family) => this.#address(family, this.#gateway)).join(',');
    const parsed = parseSubnetFields({ cidrBlock, gateway, excludeIps: this.#excludes, pools: this.#pools });
    assert.ok(parsed.ok);
    this.pair.perform({ op: 'upsert', subnet: 's', spec: parsed.spec });
  }

  /**
   * Changes one family (or both) to the next wider or narrower block that contains or is in the present one, or to another block of the
   * same size.
   */
  #reshape(what: 'widen' | 'narrow' | 'move', a: number, b: number): void {
    for (const family of this.#families) {
      if (this.#families.length > 1 && a % 3 === (family === 4 ? 0 : 1)) continue;
      const block = this.#blocks[family];
      if (what === 'widen' && block.width < 5) {
        block.width++;
        block.index >>= 1;
      } else if (what === 'narrow' && block.width > 0) {
        block.width--;
        block.index = 2 * block.index + (b & 1);
      } else if (what === 'move') block.index = b % (1 << (5 - block.width));
    }
  }

  /** The n-th address of a block, counted on beyond its end. */
  #address(family: 4 | 6, n: number): string {
    const { width, index } = this.#blocks[family];
    const place = 2 ** (width + 1) * index + n;
    return family === 4 ? `10.0.0.${place}` : `fd00::${place.toString(16)}`;
  }

  #ranges(a: number, b: number, dash: string): string[] {
    // Sometimes all offsets of a /64 that a number can represent: the free addresses are beyond them.
    if (a % 23 === 0 && this.#families.includes(6)) return ['fd00::..fd00::20:0:0:3'];
    return this.#families.map((family) => {
      const first = a % 40;
      return b % 2 === 0
        ? this.#address(family, first)
        : `${this.#address(family, first)}${dash}${this.#address(family, first + ((b >> 1) % 12))}`;
    });
  }

  #poolNames(b: number): string[] {
    const names = this.#pools.map(({ name }) => name);
    const first = names[b % (names.length + 1)] ?? '';
    return b % 2 === 0 ? [first] : [first, ''];
  }

  #named(a: number): Address[] {
    return this.#families.flatMap((family, place) => (((a >> 8) & 3) === place ? [] : (parseAddress(this.#address(family, a % 34)) ?? [])));
  }

  #reserve(n: number, pools: string[] | undefined, asked: number | undefined): void {
    const named = asked === undefined ? [] : this.#named(asked);
    const v4 = named.find(({ family }) => family === 4);
    const v6 = named.find(({ family }) => family === 6);
    const answer = this.pair.perform({
      op: 'allocate',
      subnet: 's',
      request: {
        holder: this.#holder(n, 'reservation'),
        static: { ...(v4 && { v4 }), ...(v6 && { v6 }) },
        ...(pools && { pools }),
        generateMac: (attempt) => macOf(n + 30 * attempt),
      },
    });
    if (answer?.ok === true) this.#given.set(n, { addresses: [answer.v4 ?? [], answer.v6 ?? []].flat(), mac: answer.mac });
  }

  #hold(n: number, kind: HolderKind, binding: Binding | undefined, sharingGroup?: string): void {
    if (binding === undefined) return;
    const holder = { ...this.#holder(n, kind), ...(sharingGroup === undefined ? {} : { sharingGroup }) };
    this.pair.perform({ op: 'hold', subnet: 's', holder, addresses: [...binding.addresses], mac: binding.mac });
  }

  #release(holder: Holder): void {
    this.pair.perform({ op: 'release', subnet: undefined, holder });
  }

  /** The key of a reservation is its claimant, a pod's has its UID. */
  #holder(n: number, kind: HolderKind): Holder {
    const claimant = `port-${n}`;
    const key = kind === 'reservation' ? claimant : kind === 'pod' ? `uid-${n}.${this.#generation.get(n) ?? 0}` : `${kind}-${n}`;
    return { kind, key, claimant, rank: n % 5 };
  }
}

const kinds: readonly HolderKind[] = ['reservation', 'ip', 'pod', 'row', 'vip'];

function macOf(n: number): Mac {
  return macFromNumber(0x0a_00_00_00_00_01 + n);
}

const stacks: readonly (readonly [string, readonly (4 | 6)[]])[] = [
  ['IPv4', [4]],
  ['IPv6', [6]],
  ['dual stack', [4, 6]],
];

for (const [name, families] of stacks) {
  test(`${name}: equal to the oracle after each change`, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), fc.constantFrom(3, 1_000), (steps, remember) => {
        const life = new Life(families, remember);
        for (const each of steps) {
          life.take(each);
          life.pair.compare();
        }
      }),
      { numRuns: 60 },
    );
  });

  test(`${name}: equal to the oracle through 10,000 steps`, () => {
    const seed = Math.trunc(Math.random() * 0x7fff_ffff);
    const life = new Life(families, 20);
    for (const [index, each] of fc.sample(step, { numRuns: 10_000, seed }).entries()) {
      try {
        life.take(each);
        if (index % 50 === 0 || index === 9_999) life.pair.compare();
      } catch (cause) {
        throw new Error(`differs at step ${index} of seed ${seed}`, { cause });
      }
    }
  });
}
