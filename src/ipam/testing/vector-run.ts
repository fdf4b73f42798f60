/**
 * Runs the operations of the shared vectors (in Kube-OVN's terms) on the ledger and on `net`, for tests only. A pod's interface is a
 * claimant; "no conflict check" is a fact recorded with `hold`.
 */

import { formatAddress, parseAddress, compareAddresses, stepAddress } from '../../net/address.ts';
import type { Address, Family } from '../../net/address.ts';
import { cidrCover } from '../../net/cidr-cover.ts';
import { formatCidr } from '../../net/cidr.ts';
import { parseDualAddress, protocolOf } from '../../net/dual.ts';
import type { Protocol } from '../../net/dual.ts';
import { IntervalSet } from '../../net/interval-set.ts';
import { macFromBytes, parseMac } from '../../net/mac.ts';
import type { Mac } from '../../net/mac.ts';
import { formatIntervals, parseRanges } from '../../net/range.ts';
import type { Holder } from '../holder.ts';
import { Ledger } from '../ledger.ts';
import { parseSubnetFields } from '../subnet-spec.ts';
import type { SubnetFields } from '../subnet-spec.ts';

type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };
type Answer = Record<string, Value>;

interface Step {
  readonly op: string;
  readonly expect?: Answer;
  readonly [argument: string]: Value | undefined;
}

export interface Vector {
  readonly id: string;
  readonly title: string;
  readonly ops: readonly Step[];
}

/** Vectors that pin a defect of Kube-OVN: Kiln's result, step by step. `docs/differences.md` has the reasons. */
export const deviations: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'v077',
    ['1 random v4: "10.0.0.3", not "10.0.0.1"', '3 poolState v4Using: "", not "10.0.0.1"', '5 poolState v4Using: "", not "10.0.0.1"'],
  ],
  ['v081', ['2 v4Mask error: "NoSubnet", not "NoAvailableAddress"']],
  ['v097', ['1 random v4: "10.16.0.2", not "10.16.0.1"']],
  ['v103', ['1 random v6: "fd00::2", not "fd00::1"']],
  [
    'v105',
    [
      '3 random v4: "10.0.0.3", not "10.0.0.1"',
      '3 random v6: "fd00::3", not "fd00::1"',
      '4 random v4: "10.0.0.4", not "10.0.0.3"',
      '4 random v6: "fd00::4", not "fd00::3"',
      '5 podAddresses ips: ["10.0.0.3","fd00::3","10.0.0.4","fd00::4"], not ["10.0.0.1","fd00::1","10.0.0.3","fd00::3"]',
      '9 poolState v4Released: "10.0.0.3-10.0.0.4", not "10.0.0.1,10.0.0.3"',
      '9 poolState v6Released: "fd00::3-fd00::4", not "fd00::1,fd00::3"',
    ],
  ],
]);

export class VectorRun {
  readonly #ledger = new Ledger();
  readonly #fields = new Map<string, SubnetFields>();
  readonly #interfaces = new Map<string, Holder>();
  readonly #macs = new Map<string, Value>();
  #family: Family = 4;
  #list = IntervalSet.empty;
  #macsMade = 0;

  /** Differences from the vector, as `<step> <op> <key>: <got>, not <expected>`; empty if there are none. */
  run(vector: Vector): string[] {
    const differences: string[] = [];
    for (const [index, step] of vector.ops.entries()) {
      const answer = this.#perform(step);
      for (const [key, expected] of Object.entries(step.expect ?? {})) {
        const got = this.#lookUp(key, expected, answer);
        if (got !== undefined) differences.push(`${index} ${step.op} ${key}: ${JSON.stringify(got)}, not ${JSON.stringify(expected)}`);
      }
    }
    return differences;
  }

  /** The answer if it is not the expected one. */
  #lookUp(key: string, expected: Value, answer: Answer): Value | undefined {
    if (key === 'saveMac') {
      this.#macs.set(String(expected), answer['mac'] ?? null);
      return undefined;
    }
    if (key === 'sameMac') return this.#macs.get(String(expected)) === answer['mac'] ? undefined : (answer['mac'] ?? null);
    if (key === 'errorContains') return String(answer['message']).includes(String(expected)) ? undefined : (answer['message'] ?? null);
    const got = answer[key] ?? (key === 'error' ? null : '');
    if (key === 'error' && expected === '*') return got === null ? got : undefined;
    return JSON.stringify(got) === JSON.stringify(expected) ? undefined : got;
  }

  #perform(step: Step): Answer {
    const text = (name: string): string => String(step[name] ?? '');
    const texts = (name: string): string[] => ((step[name] ?? []) as string[]).slice();
    const subnet = text('subnet');
    switch (step.op) {
      case 'newSubnet':
        return this.#upsert(subnet, { cidrBlock: text('cidr'), gateway: '', excludeIps: texts('exclude') }, false);
      case 'addOrUpdateSubnet':
        return this.#upsert(subnet, { cidrBlock: text('cidr'), gateway: text('gateway'), excludeIps: texts('exclude') }, true);
      case 'setGateway':
        return this.#upsert(
          subnet,
          { ...this.#known(subnet), gateway: [text('v4'), text('v6')].filter((item) => item !== '').join(',') },
          false,
        );
      case 'deleteSubnet':
        this.#fields.delete(subnet);
        this.#ledger.removeSubnet(subnet);
        return {};
      case 'subnetCount':
        return { value: this.#ledger.subnets.length };
      case 'v4Mask': {
        const prefix = this.#ledger.spec(subnet)?.cidrs.v4?.prefix;
        return prefix === undefined ? { value: '', error: 'NoSubnet' } : { value: String(prefix) };
      }
      case 'addOrUpdatePool':
        return this.#upsertPool(subnet, text('pool'), texts('ips'));
      case 'removePool':
        return this.#upsert(
          subnet,
          { ...this.#known(subnet), pools: this.#pools(subnet).filter(({ name }) => name !== text('pool')) },
          false,
        );
      case 'random':
        return this.#allocate(step, {});
      case 'static':
      case 'staticOne': {
        const macOnly = protocolOf(this.#ledger.spec(subnet)?.cidrs ?? {}) === undefined;
        const named = text('ip') === '' && macOnly ? { ok: true as const } : parseDualAddress(text('ip'));
        if (!named.ok) return { error: 'AddressInvalid', v4: '', v6: '' };
        return this.#allocate(step, { ...(named.v4 && { v4: named.v4 }), ...(named.v6 && { v6: named.v6 }) });
      }
      case 'releaseByPod':
        for (const { key } of this.#ofPod(text('pod'))) this.#ledger.release('pod', key, subnet === '' ? undefined : subnet);
        return {};
      case 'releaseByNic':
        this.#ledger.release('pod', `${text('pod')} ${text('nic')}`, subnet === '' ? undefined : subnet);
        return {};
      case 'containsAddress': {
        const address = parseAddress(text('ip'));
        return { value: address !== undefined && this.#ledger.subnets.some((name) => this.#ledger.holdersOf(name, address).length > 0) };
      }
      case 'assignedToOther': {
        const other = this.#ledger.holdersOf(subnet, this.#address(text('ip'))).find(({ key }) => podOf(key) !== text('pod'));
        return { assigned: other !== undefined, pod: other === undefined ? '' : podOf(other.key) };
      }
      case 'podAddresses': {
        const held = this.#ofPod(text('pod')).flatMap(({ key }) =>
          [...this.#ledger.bindings('pod', key).values()].flatMap(({ addresses }) => addresses),
        );
        return { ips: held.map(formatAddress), count: held.length };
      }
      case 'subnetState':
        return this.#state(subnet, undefined);
      case 'poolState':
        return this.#state(subnet, text('pool'));
      case 'poolStats':
        return this.#stats(subnet, text('pool'));
      default:
        return this.#numbers(step, text);
    }
  }

  /** Lists of ranges, and single addresses as numbers. */
  #numbers(step: Step, text: (name: string) => string): Answer {
    const value = (name: string): bigint => this.#address(text(name)).value;
    const given = (): IntervalSet =>
      IntervalSet.of(
        ((step['ranges'] ?? []) as string[][]).map(([a, b]) => ({
          first: this.#address(a ?? '').value,
          last: this.#address(b ?? '').value,
        })),
      );
    const shown = (set: IntervalSet): string => formatIntervals(this.#family, set.intervals);
    switch (step.op) {
      case 'rlNew':
        this.#list = given();
        return {};
      case 'rlContains':
        return { value: this.#list.contains(value('ip')) };
      case 'rlAdd':
      case 'rlRemove': {
        const address = value('ip');
        const had = this.#list.contains(address);
        const one = IntervalSet.between(address, address);
        this.#list = step.op === 'rlAdd' ? this.#list.union(one) : this.#list.subtract(one);
        return { value: step.op === 'rlAdd' ? !had : had };
      }
      case 'rlString':
        return { value: shown(this.#list) };
      case 'rlSeparate':
        return { value: shown(this.#list.subtract(given())) };
      case 'rlMerge':
        return { value: shown(this.#list.union(given())) };
      case 'rlMergeInto':
        this.#list = this.#list.union(given());
        return { value: shown(this.#list) };
      case 'rlEqual':
        return { value: this.#list.equals(given()) };
      case 'rlAllocate': {
        const skipped = ((step['skip'] ?? []) as string[]).map((item) => this.#address(item).value);
        const { first } = this.#list.subtract(IntervalSet.of(skipped.map((at) => ({ first: at, last: at }))));
        if (first === undefined) return { value: '' };
        this.#list = this.#list.subtract(IntervalSet.between(first, first));
        return { value: formatAddress({ family: this.#family, value: first }) };
      }
      case 'rlParse': {
        const parsed = parseRanges(step['items'] as string[], 'ranges-and-cidrs');
        if (!parsed.ok) return { error: 'Invalid', message: `invalid ${parsed.form}: ${parsed.item} ${parsed.problem}` };
        this.#family = parsed.ranges[0]?.family ?? 4;
        this.#list = IntervalSet.of(parsed.ranges);
        return {};
      }
      case 'rlToCIDRs': {
        const family = this.#family;
        const blocks = this.#list.intervals.flatMap((interval) => cidrCover({ family, ...interval }));
        return { value: blocks.map((block): string => formatCidr(block)).toSorted() };
      }
      case 'ipAdd':
        return { value: formatAddress(stepAddress(this.#address(text('ip')), BigInt(Number(step['n'])))) };
      case 'ipSub':
        return { value: formatAddress(stepAddress(this.#address(text('ip')), -BigInt(Number(step['n'])))) };
      case 'ipCmp':
        return { value: compareAddresses(this.#address(text('a')), this.#address(text('b'))) };
      case 'rangeCount':
        return { value: String(IntervalSet.between(value('start'), value('end')).count) };
      case 'rangeRemove': {
        const rest = IntervalSet.between(value('start'), value('end')).subtract(IntervalSet.between(value('ip'), value('ip')));
        return { value: rest.intervals.map((interval) => formatIntervals(this.#family, [interval])) };
      }
      default:
        throw new Error(`the vectors have an operation that this test does not know: ${step.op}`);
    }
  }

  #upsert(subnet: string, fields: SubnetFields, strict: boolean): Answer {
    // Kube-OVN's constructor accepts no gateway, not even for two families; no valid Subnet is like that.
    const gatewayless = !strict && fields.gateway === '';
    const known = this.#ledger.spec(subnet);
    if (known !== undefined && fields.cidrBlock === '' && protocolOf(known.cidrs) !== undefined) return { error: 'CIDRInvalid' };
    const parsed = parseSubnetFields({
      ...fields,
      ...(gatewayless ? { gateway: '0.0.0.0,::' } : {}),
      pools: fields.pools ?? this.#pools(subnet),
    });
    if (!parsed.ok) return { error: parsed.code };
    const spec = gatewayless ? { ...parsed.spec, gateways: [] } : parsed.spec;
    const refused = this.#ledger.upsertSubnet(subnet, spec);
    if (refused.length > 0) return { error: 'PoolRefused' };
    this.#fields.set(subnet, { ...fields, pools: fields.pools ?? this.#pools(subnet) });
    return {};
  }

  #upsertPool(subnet: string, name: string, ips: string[]): Answer {
    const before = this.#known(subnet);
    const pools = [...this.#pools(subnet).filter((pool) => pool.name !== name), { name, ips }];
    const answer = this.#upsert(subnet, { ...before, pools }, false);
    if (answer['error'] !== undefined) this.#upsert(subnet, before, false);
    return answer;
  }

  #allocate(step: Step, named: { v4?: Address; v6?: Address }): Answer {
    const subnet = String(step['subnet']);
    const key = `${String(step['pod'])} ${String(step['nic'])}`;
    const holder: Holder = { kind: 'pod', key, claimant: key };
    this.#interfaces.set(key, holder);
    const mac = typeof step['mac'] === 'string' ? parseMac(step['mac']) : undefined;
    // `staticOne` replaces the address of one family, while a request to the ledger is for all that its holder is to have.
    const all = step.op === 'staticOne' ? { ...this.#has(subnet, holder), ...named } : named;
    const families = step.op === 'staticOne' ? (protocolOf(all) ?? '') : ((step['family'] ?? '') as Protocol | '');
    const skip = ((step['skip'] ?? []) as string[]).map((item) => this.#address(item));
    const pool = String(step['pool'] ?? '');
    const result = this.#ledger.allocate(subnet, {
      holder,
      static: all,
      skip,
      pools: [pool],
      generateMac: () => macFromBytes(Uint8Array.of(0, 0, 0, 0, this.#macsMade >> 8, this.#macsMade++)),
      ...(families === '' ? {} : { families }),
      ...(mac === undefined ? {} : { mac }),
    });
    if (result.ok) {
      const given = step.op === 'staticOne' ? named : result;
      const v4 = given.v4 === undefined ? '' : formatAddress(given.v4);
      const v6 = given.v6 === undefined ? '' : formatAddress(given.v6);
      return { v4, v6, ip: v4 || v6, mac: result.mac ?? '' };
    }
    if (result.code === 'AddressConflict' && result.holders.length > 0 && result.subject !== 'mac' && step['checkConflict'] === false) {
      return this.#insist(subnet, holder, named, mac);
    }
    return { error: result.code, v4: '', v6: '' };
  }

  #has(subnet: string, { kind, key }: Holder): { v4?: Address; v6?: Address } {
    const addresses = this.#ledger.bindings(kind, key).get(subnet)?.addresses ?? [];
    return Object.fromEntries(addresses.map((address) => [`v${address.family}`, address]));
  }

  /** Without a conflict check the interface gets the address in any case. */
  #insist(subnet: string, holder: Holder, named: { v4?: Address; v6?: Address }, mac: Mac | undefined): Answer {
    const addresses = [named.v4, named.v6].filter((address) => address !== undefined);
    this.#ledger.hold(subnet, holder, { addresses, ...(mac === undefined ? {} : { mac }) });
    const v4 = named.v4 === undefined ? '' : formatAddress(named.v4);
    const v6 = named.v6 === undefined ? '' : formatAddress(named.v6);
    return { v4, v6, ip: v4 || v6, mac: mac ?? '' };
  }

  #state(subnet: string, pool: string | undefined): Answer {
    const spec = this.#ledger.spec(subnet);
    const answer: Answer = {
      protocol: protocolOf(spec?.cidrs ?? {}) ?? '',
      v4CIDR: spec?.cidrs.v4 === undefined ? '' : formatCidr(spec.cidrs.v4),
      v6CIDR: spec?.cidrs.v6 === undefined ? '' : formatCidr(spec.cidrs.v6),
    };
    for (const family of [4, 6] as const) {
      const sets = this.#ledger.addressSets(subnet, family, pool);
      if (sets === undefined) return { missing: true };
      const shown = (set: IntervalSet): string => formatIntervals(family, set.intervals);
      answer[`v${family}IPs`] = shown(sets.all);
      answer[`v${family}Free`] = shown(sets.available.subtract(sets.freed));
      answer[`v${family}Available`] = shown(sets.available);
      answer[`v${family}Reserved`] = shown(sets.reserved);
      answer[`v${family}Released`] = shown(sets.freed);
      answer[`v${family}Using`] = shown(sets.held);
    }
    return answer;
  }

  #stats(subnet: string, pool: string): Answer {
    const answer: Answer = {};
    for (const family of [4, 6] as const) {
      const counts = this.#ledger.counts(subnet, family, pool);
      const sets = this.#ledger.addressSets(subnet, family, pool);
      const usage = this.#ledger.usage(subnet)?.pools.get(pool)?.[family === 4 ? 'v4' : 'v6'];
      answer[`v${family}Available`] = String(usage?.available ?? counts?.available);
      answer[`v${family}Using`] = String(usage?.using ?? counts?.using);
      answer[`v${family}AvailableRange`] = usage?.availableRange ?? formatIntervals(family, sets?.available.intervals ?? []);
      answer[`v${family}UsingRange`] = usage?.usingRange ?? formatIntervals(family, sets?.held.intervals ?? []);
    }
    return answer;
  }

  #known(subnet: string): SubnetFields {
    return this.#fields.get(subnet) ?? { cidrBlock: '', gateway: '', excludeIps: [] };
  }

  #pools(subnet: string): NonNullable<SubnetFields['pools']> {
    return this.#known(subnet).pools ?? [];
  }

  #ofPod(pod: string): Holder[] {
    return [...this.#interfaces.values()].filter(({ key }) => podOf(key) === pod);
  }

  #address(item: string): Address {
    const address = parseAddress(item);
    if (address === undefined) throw new Error(`the vectors have an address that is none: ${item}`);
    this.#family = address.family;
    return address;
  }
}

function podOf(key: string): string {
  return key.split(' ')[0] ?? '';
}
