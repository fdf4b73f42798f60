/** The guarantees of the ledger, one example each. `ledger.property.test.ts` tries any sequence. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { macFromBytes, parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { Allocation, AllocationRequest } from './allocation.ts';
import type { Holder } from './holder.ts';
import { Ledger } from './ledger.ts';
import { parseSubnetFields } from './subnet-spec.ts';
import type { SubnetFields } from './subnet-spec.ts';

const v4 = { cidrBlock: '10.16.0.0/29', gateway: '10.16.0.1', excludeIps: [] };
const dual = { cidrBlock: '10.16.0.0/29,fd00:10:16::/64', gateway: '10.16.0.1,fd00:10:16::1', excludeIps: [] };

describe('giving addresses', () => {
  test('ascending, never the gateway nor an excluded address, until none is left', () => {
    const { ledger } = ledgerOf({ ...v4, excludeIps: ['10.16.0.3..10.16.0.4'] });
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((name) => give(ledger, name)),
      ['10.16.0.2', '10.16.0.5', '10.16.0.6', 'NoAvailableAddress'],
    );
    assert.deepEqual(ledger.counts('s', 4), { available: 0n, using: 3n });
  });

  test('the last address of an IPv6 network is for who names it, and of a pool that has it; the last of an IPv4 one for nobody', () => {
    const named = (ledger: Ledger, name: string, address: string): string =>
      text(
        ledger.allocate('s', {
          holder: { kind: 'ip', key: name, claimant: name },
          static: address.includes(':') ? { v6: at(address) } : { v4: at(address) },
        }),
      );
    const six = { cidrBlock: 'fd00::/126', gateway: 'fd00::1', excludeIps: [] };
    const { ledger } = ledgerOf(six);
    assert.deepEqual([give(ledger, 'a'), give(ledger, 'b')], ['fd00::2', 'NoAvailableAddress']);
    assert.equal(named(ledger, 'c', 'fd00::3'), 'fd00::3');
    assert.equal(named(ledger, 'd', 'fd00::'), 'AddressOutOfRange');
    const pooled = ledgerOf({ ...six, pools: [{ name: 'p', ips: ['fd00::2..fd00::3'] }] }).ledger;
    const from = (name: string): string => text(pooled.allocate('s', { holder: { kind: 'ip', key: name, claimant: name }, pools: ['p'] }));
    assert.deepEqual([from('a'), from('b')], ['fd00::2', 'fd00::3']);
    const gateway = ledgerOf({ ...six, gateway: 'fd00::3' }).ledger;
    assert.deepEqual([give(gateway, 'a'), named(gateway, 'b', 'fd00::3')], ['fd00::1', 'AddressConflict']);
    assert.equal(named(ledgerOf(v4).ledger, 'a', '10.16.0.7'), 'AddressOutOfRange');
  });

  test('a claimant gets the same address again, by any holder', () => {
    const { ledger } = ledgerOf(dual);
    assert.equal(give(ledger, 'a'), '10.16.0.2,fd00:10:16::2');
    assert.equal(give(ledger, 'a'), '10.16.0.2,fd00:10:16::2');
    assert.equal(text(ledger.allocate('s', { holder: { kind: 'ip', key: 'uid', claimant: 'a' } })), '10.16.0.2,fd00:10:16::2');
    assert.equal(ledger.counts('s', 4)?.using, 1n);
    ledger.release('reservation', 'a');
    assert.equal(ledger.counts('s', 4)?.using, 1n, 'the IP object still holds it');
    assert.equal(ledger.occupant('s', 'a')?.holders.length, 1);
    assert.deepEqual([ledger.has('s', 'a'), ledger.has('s', 'b'), ledger.has('t', 'a')], [true, false, false]);
    ledger.release('ip', 'uid');
    assert.equal(ledger.has('s', 'a'), false);
  });

  test('freed addresses come back last, longest unused first', () => {
    const { ledger } = ledgerOf(v4);
    for (const name of ['a', 'b', 'c']) give(ledger, name);
    for (const name of ['c', 'a', 'b']) ledger.release('reservation', name);
    assert.deepEqual(
      ['d', 'e', 'f', 'g', 'h'].map((name) => give(ledger, name)),
      ['10.16.0.5', '10.16.0.6', '10.16.0.4', '10.16.0.2', '10.16.0.3'],
    );
  });

  test('a Subnet with more freed addresses than it remembers takes the longest unused before a new one', () => {
    const { ledger } = ledgerOf(v4, { rememberFreed: 1 });
    for (const name of ['a', 'b']) give(ledger, name);
    for (const name of ['a', 'b']) ledger.release('reservation', name);
    assert.deepEqual(
      ['c', 'd'].map((name) => give(ledger, name)),
      ['10.16.0.2', '10.16.0.4'],
    );
  });

  test('by name: an excluded one yes, the gateway no, the network address no, a taken one no', () => {
    const { ledger } = ledgerOf({ ...v4, excludeIps: ['10.16.0.5'] });
    assert.equal(give(ledger, 'a', { static: { v4: at('10.16.0.5') } }), '10.16.0.5');
    assert.equal(give(ledger, 'b', { static: { v4: at('10.16.0.1') } }), 'AddressConflict');
    assert.equal(give(ledger, 'b', { static: { v4: at('10.16.0.0') } }), 'AddressOutOfRange');
    assert.equal(give(ledger, 'b', { static: { v6: at('fd00::5') } }), 'AddressOutOfRange');
    const refused = ledger.allocate('s', { holder: reservation('b'), static: { v4: at('10.16.0.5') } });
    assert.ok(!refused.ok);
    assert.equal(refused.message, 'the address 10.16.0.5 in Subnet "s" is held by a');
    assert.deepEqual(refused.holders, [reservation('a')]);
    assert.deepEqual(ledger.counts('s', 4), { available: 4n, using: 0n }, 'an excluded address in use is not counted');
  });

  test('another requested address is allocated before the old one is released', () => {
    const { ledger } = ledgerOf(v4);
    give(ledger, 'a');
    give(ledger, 'b');
    assert.equal(give(ledger, 'a', { static: { v4: at('10.16.0.3') } }), 'AddressConflict');
    assert.deepEqual(ledger.bindings('reservation', 'a').get('s')?.addresses, [at('10.16.0.2')], 'refused, and nothing lost');
    assert.equal(give(ledger, 'a', { static: { v4: at('10.16.0.6') } }), '10.16.0.6');
    assert.deepEqual(ledger.holdersOf('s', at('10.16.0.2')), []);
  });

  test('a request for one family releases the other one in its Subnet, and nothing elsewhere', () => {
    const { ledger } = ledgerOf(dual);
    upsert(ledger, dual, 't');
    const [v6, mac] = [at('fd00:10:16::2'), macOf('0a:00:00:00:00:01')];
    for (const subnet of ['s', 't']) assert.ok(ledger.allocate(subnet, { holder: reservation('a'), mac }).ok);
    assert.equal(give(ledger, 'a', { families: 'IPv4' }), '10.16.0.2');
    assert.deepEqual(ledger.bindings('reservation', 'a').get('s'), { addresses: [at('10.16.0.2')], mac });
    assert.equal(ledger.counts('s', 6)?.using, 0n);
    assert.deepEqual(ledger.bindings('reservation', 'a').get('t'), { addresses: [at('10.16.0.2'), v6], mac });
    assert.equal(give(ledger, 'b', { static: { v6 } }), '10.16.0.3,fd00:10:16::2');
  });

  test('an allocation is never partial', () => {
    const { ledger } = ledgerOf({ cidrBlock: '10.16.0.0/29,fd00::/126', gateway: '10.16.0.1,fd00::1', excludeIps: [] });
    give(ledger, 'a');
    ledger.takeChanged();
    assert.equal(give(ledger, 'b'), 'NoAvailableAddress');
    assert.deepEqual(ledger.takeChanged(), []);
    assert.equal(give(ledger, 'b', { families: 'IPv4', mac: macOf('0a:00:00:00:00:01') }), '10.16.0.3');
    assert.equal(give(ledger, 'c', { families: 'IPv4', mac: macOf('0a:00:00:00:00:01') }), 'AddressConflict');
    assert.deepEqual(ledger.counts('s', 4), { available: 3n, using: 2n });
  });

  test('families', () => {
    const { ledger } = ledgerOf(dual);
    assert.equal(give(ledger, 'a', { families: 'IPv6' }), 'fd00:10:16::2');
    assert.equal(give(ledger, 'b', { static: { v6: at('fd00:10:16::f') } }), '10.16.0.2,fd00:10:16::f', 'the other family is chosen');
    assert.equal(give(ledger, 'c', { families: 'IPv4', static: { v6: at('fd00:10:16::e') } }), 'InvalidIPFamily');
    assert.equal(give(ledgerOf(v4).ledger, 'a', { families: 'IPv6' }), 'InvalidIPFamily');
    assert.equal(give(new Ledger(), 'a'), 'NoSubnet');
  });

  test('an IPv6 Subnet whose first 2^53 addresses are excluded', () => {
    const { ledger } = ledgerOf({ cidrBlock: 'fd00::/64', gateway: 'fd00::1', excludeIps: ['fd00::1..fd00::20:0:0:ff'] });
    assert.deepEqual(
      ['a', 'b'].map((name) => give(ledger, name)),
      ['fd00::20:0:0:100', 'fd00::20:0:0:101'],
    );
    assert.deepEqual(ledger.usage('s')?.v6, {
      available: (1n << 64n) - 2n - (1n << 53n) - 255n - 2n,
      using: 2n,
      availableRange: 'fd00::20:0:0:102-fd00::ffff:ffff:ffff:fffe',
      usingRange: 'fd00::20:0:0:100-fd00::20:0:0:101',
    });
  });
});

describe('pools', () => {
  const fields = {
    ...v4,
    pools: [
      { name: 'p', ips: ['10.16.0.2..10.16.0.3'] },
      { name: 'late', ips: ['10.16.0.3', '10.16.0.6'] },
    ],
  };

  test('where only addresses of pools are free, the message names them: the counts of the Subnet include them', () => {
    const { ledger } = ledgerOf(fields);
    const message = (holder: string): string => {
      const answer = ledger.allocate('s', { holder: reservation(holder) });
      return answer.ok ? '' : answer.message;
    };
    let left = 10;
    while (left-- > 0 && give(ledger, `n${left}`) !== 'NoAvailableAddress');
    assert.equal(message('x'), 'no free IPv4 address in Subnet "s"; the free ones are kept for IPPool "p"');
    for (const holder of ['p1', 'p2']) assert.match(give(ledger, holder, { pools: ['p'] }), /^10\./);
    assert.equal(message('x'), 'no free IPv4 address in Subnet "s"');
  });

  test('only requests that name a pool get its addresses; a pool that overlaps an earlier one is not in effect', () => {
    const { ledger, refused } = ledgerOf(fields);
    assert.deepEqual(refused, [{ name: 'late', overlaps: 'p' }]);
    assert.equal(give(ledger, 'a'), '10.16.0.4');
    assert.equal(give(ledger, 'b', { pools: ['p'] }), '10.16.0.2');
    assert.equal(give(ledger, 'c', { static: { v4: at('10.16.0.3') } }), '10.16.0.3');
    assert.equal(give(ledger, 'd', { pools: ['p'] }), 'NoAvailableAddress');
    assert.equal(give(ledger, 'd', { pools: ['p', ''] }), '10.16.0.5');
    const missing = ledger.allocate('s', { holder: reservation('e'), pools: ['late'] });
    assert.equal(missing.ok ? '' : missing.message, 'no free IPv4 address in IPPool "late" of Subnet "s" (not in effect there: "late")');
    assert.deepEqual(ledger.usage('s')?.pools.get('p')?.v4, {
      available: 0n,
      using: 2n,
      availableRange: '',
      usingRange: '10.16.0.2-10.16.0.3',
    });
    assert.deepEqual(ledger.usage('s')?.v4, { available: 1n, using: 4n, availableRange: '10.16.0.6', usingRange: '10.16.0.2-10.16.0.5' });
  });
});

describe('facts', () => {
  test('two claimants on one address are a conflict, first by rank; sharing is declared by both', () => {
    const { ledger } = ledgerOf(v4);
    const address = at('10.16.0.4');
    ledger.hold('s', { kind: 'ip', key: '2', claimant: 'b', rank: 20 }, { addresses: [address] });
    ledger.hold('s', { kind: 'ip', key: '1', claimant: 'a', rank: 10 }, { addresses: [address] });
    assert.deepEqual(
      ledger.conflicts('s').map(({ subject, gateway, holders }) => [subject, gateway, holders.map(({ claimant }) => claimant)]),
      [[{ kind: 'address', address }, false, ['a', 'b']]],
    );
    ledger.hold('s', { kind: 'ip', key: '1', claimant: 'a', rank: 10, sharingGroup: 'vm' }, { addresses: [address] });
    assert.equal(ledger.hasConflicts('s'), true);
    ledger.hold('s', { kind: 'ip', key: '2', claimant: 'b', rank: 20, sharingGroup: 'vm' }, { addresses: [address] });
    assert.deepEqual(ledger.conflicts('s'), []);
    assert.deepEqual(ledger.counts('s', 4)?.using, 1n);
    const third: Holder = { kind: 'reservation', key: '3', claimant: 'c' };
    assert.equal(text(ledger.allocate('s', { holder: third, static: { v4: address } })), 'AddressConflict');
    assert.equal(text(ledger.allocate('s', { holder: { ...third, sharingGroup: 'vm' }, static: { v4: address } })), '10.16.0.4');
  });

  test('the gateway held by a pod, and one MAC twice', () => {
    const { ledger } = ledgerOf(v4);
    const mac = macOf('0a:00:00:00:00:01');
    ledger.hold('s', { kind: 'ip', key: '1', claimant: 'a' }, { addresses: [at('10.16.0.1')], mac });
    ledger.hold('s', { kind: 'ip', key: '2', claimant: 'b' }, { addresses: [at('10.16.0.2')], mac });
    assert.deepEqual(
      ledger.conflicts('s').map(({ subject, gateway }) => [subject.kind, gateway]),
      [
        ['address', true],
        ['mac', false],
      ],
    );
    assert.deepEqual(
      ledger.holdersOfMac('s', mac).map(({ claimant }) => claimant),
      ['a', 'b'],
    );
  });

  test('may be recorded before the Subnet and stay after it', () => {
    const { ledger } = ledgerOf(undefined);
    ledger.hold('s', { kind: 'ip', key: '1', claimant: 'a' }, { addresses: [at('10.16.0.2'), at('fd00:10:16::2')] });
    assert.deepEqual(ledger.holdersIn('s', 10).count, 1);
    upsert(ledger, dual);
    assert.equal(give(ledger, 'b'), '10.16.0.3,fd00:10:16::3');
    ledger.removeSubnet('s');
    assert.equal(ledger.usage('s'), undefined);
    assert.deepEqual(ledger.holdersIn('s', 1).count, 2);
    for (const [kind, key] of [
      ['ip', '1'],
      ['reservation', 'b'],
    ] as const)
      assert.equal(ledger.release(kind, key), true);
    assert.equal(ledger.release('ip', '1'), false);
    assert.deepEqual(ledger.conflicts('s'), [], 'nothing is known of it any more');
  });

  test('a narrowed Subnet keeps and counts its holders, and allocates within its new CIDR', () => {
    const { ledger } = ledgerOf({ ...v4, cidrBlock: '10.16.0.0/24' });
    give(ledger, 'a', { static: { v4: at('10.16.0.200') } });
    upsert(ledger, { ...v4, cidrBlock: '10.16.0.128/28', gateway: '10.16.0.129' });
    give(ledger, 'b', { static: { v4: at('10.16.0.131') } });
    assert.deepEqual(ledger.usage('s')?.v4, {
      ...{ available: 12n, using: 2n },
      ...{ availableRange: '10.16.0.130,10.16.0.132-10.16.0.142', usingRange: '10.16.0.131,10.16.0.200' },
    });
    assert.deepEqual(
      ledger.holdersIn('s', 10).first.map(({ claimant, addresses }) => [claimant, addresses.map(formatAddress)]),
      [
        ['b', ['10.16.0.131']],
        ['a', ['10.16.0.200']],
      ],
    );
    upsert(ledger, { ...v4, cidrBlock: '10.16.0.208/28', gateway: '10.16.0.209' });
    assert.equal(ledger.usage('s')?.v4?.usingRange, '10.16.0.131,10.16.0.200');
    upsert(ledger, { ...v4, cidrBlock: '10.16.0.0/16' });
    assert.equal(ledger.usage('s')?.v4?.usingRange, '10.16.0.131,10.16.0.200');
    assert.equal(give(ledger, 'a'), '10.16.0.200');
  });

  test('foreign ports hold addresses, but neither count nor keep the Subnet', () => {
    const { ledger } = ledgerOf(v4);
    assert.equal(text(ledger.allocate('s', { holder: { kind: 'foreign-port', key: 'u2o', claimant: 'u2o' } })), '10.16.0.2');
    assert.deepEqual(ledger.usage('s')?.v4, { available: 4n, using: 0n, availableRange: '10.16.0.3-10.16.0.6', usingRange: '' });
    assert.deepEqual(ledger.holdersIn('s', 10), { first: [], count: 0 });
    assert.equal(give(ledger, 'a', { static: { v4: at('10.16.0.2') } }), 'AddressConflict');
  });

  test('a change of a Subnet is announced when an address gets or loses a claimant, not with each further holder', () => {
    const { ledger, changed } = ledgerOf({ ...v4, pools: [{ name: 'p', ips: ['10.16.0.2'] }] });
    give(ledger, 'a', { pools: ['p'] });
    assert.deepEqual(changed, ['s', 's'], 'its spec, and its first address in use');
    changed.length = 0;
    ledger.hold('s', { kind: 'ip', key: '1', claimant: 'a' }, { addresses: [at('10.16.0.2')] });
    ledger.release('reservation', 'a');
    assert.deepEqual(changed, []);
    ledger.release('ip', '1');
    assert.deepEqual(changed, ['s']);
  });
});

describe('MACs', () => {
  const generateMac = (attempt: number): Mac => macFromBytes(Uint8Array.of(0, 0, 0, 0, 0, attempt));

  test("are a claimant's own in a Subnet, never the gateway's; a taken candidate is passed over", () => {
    const { ledger } = ledgerOf({ ...v4, gatewayMacs: [macOf('02:00:00:00:00:00')] });
    const ask = (name: string, mac?: Mac): Allocation =>
      ledger.allocate('s', { holder: reservation(name), generateMac, ...(mac && { mac }) });
    const macOfResult = (result: Allocation): string => (result.ok ? (result.mac ?? '') : result.code);
    assert.deepEqual(
      ['a', 'b', 'a'].map((name) => macOfResult(ask(name))),
      ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:01'],
    );
    assert.equal(macOfResult(ask('c', macOf('02:00:00:00:00:00'))), 'AddressConflict');
    assert.equal(macOfResult(ask('c', macOf('02:00:00:00:00:02'))), 'AddressConflict');
    assert.equal(macOfResult(ask('b', macOf('0a:00:00:00:00:09'))), '0a:00:00:00:00:09');
    assert.equal(macOfResult(ask('c', macOf('02:00:00:00:00:02'))), '02:00:00:00:00:02', 'given up by b');
  });

  test('a Subnet without a CIDR allocates only MACs', () => {
    const { ledger } = ledgerOf({ cidrBlock: '', gateway: '', excludeIps: [] });
    assert.deepEqual(ledger.allocate('s', { holder: reservation('a'), generateMac }), { ok: true, mac: '02:00:00:00:00:00' });
    assert.equal(ledger.holdersIn('s', 10).count, 1);
  });
});

test('invalid fields are named with their value and the rule', () => {
  const problems = [
    { cidrBlock: '10.0.0.0/33' },
    { cidrBlock: '10.0.0.0/24,fd00::/64' },
    { gateway: 'x' },
    { excludeIps: ['10.0.0.9..10.0.0.1'] },
    { pools: [{ name: 'p', ips: ['10.0.0.261'] }] },
  ]
    .map((wrong) => parseSubnetFields({ ...v4, ...wrong }))
    .map((result) => (result.ok ? '' : `${result.code}: ${result.field} "${result.value}" ${result.problem}`));
  assert.deepEqual(problems, [
    'CIDRInvalid: spec.cidrBlock "10.0.0.0/33" has a prefix length that is not a number from 0 to 32',
    'GatewayInvalid: spec.gateway "10.16.0.1" names no IPv6 gateway for a dual-stack CIDR',
    'GatewayInvalid: spec.gateway "x" is not an IP address',
    'ExcludeInvalid: spec.excludeIps "10.0.0.9..10.0.0.1" ends before it begins',
    'PoolInvalid: pool p "10.0.0.261" is not an IPv4 address (each of the four numbers is 0 to 255, without leading zeros)',
  ]);
});

function ledgerOf(
  fields: SubnetFields | undefined,
  options: { rememberFreed?: number } = {},
): { ledger: Ledger; refused: readonly unknown[]; changed: string[] } {
  const changed: string[] = [];
  const ledger = new Ledger({ ...options, onChanged: (subnet) => changed.push(subnet) });
  return { ledger, refused: fields === undefined ? [] : upsert(ledger, fields), changed };
}

function upsert(ledger: Ledger, fields: SubnetFields, name = 's'): readonly unknown[] {
  const parsed = parseSubnetFields(fields);
  assert.ok(parsed.ok);
  return ledger.upsertSubnet(name, parsed.spec);
}

function reservation(name: string): Holder {
  return { kind: 'reservation', key: name, claimant: name };
}

function give(ledger: Ledger, name: string, request: Omit<AllocationRequest, 'holder'> = {}): string {
  return text(ledger.allocate('s', { holder: reservation(name), ...request }));
}

function text(result: Allocation): string {
  return result.ok
    ? [result.v4, result.v6].flatMap((address) => (address === undefined ? [] : [formatAddress(address)])).join(',')
    : result.code;
}

function at(address: string): Address {
  const parsed = parseAddress(address);
  assert.ok(parsed);
  return parsed;
}

function macOf(mac: string): Mac {
  const parsed = parseMac(mac);
  assert.ok(parsed);
  return parsed;
}
