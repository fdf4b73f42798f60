import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  addressProblem,
  addressSpelling,
  canonicalAddress,
  compareAddresses,
  formatAddress,
  parseAddress,
  stepAddress,
} from './address.ts';
import type { Address } from './address.ts';
import { cidrCover } from './cidr-cover.ts';
import {
  canonicalCidr,
  cidrContains,
  cidrCovers,
  cidrOf,
  cidrProblem,
  cidrSize,
  cidrsOverlap,
  firstUsable,
  formatCidr,
  isUsable,
  lastUsable,
  parseCidr,
  parseInterfaceAddress,
} from './cidr.ts';
import type { Cidr } from './cidr.ts';
import { formatDualAddress, formatDualCidr, parseDualAddress, parseDualCidr, protocolOf, splitList } from './dual.ts';
import { macFromBytes, macFromNumber, macProblem, macToNumber, parseMac } from './mac.ts';
import { formatIntervals, formatRange, parseRange, parseRangeOrCidr, parseRanges, rangeProblem } from './range.ts';

const v4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value): Address => ({ family: 4, value }));
const sparseV6 = fc
  .array(fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 0xffffn })), { minLength: 8, maxLength: 8 })
  .map((groups): Address => ({ family: 6, value: groups.reduce((sum, group) => (sum << 16n) | group, 0n) }));
const address = fc.oneof(v4, sparseV6);
const cidr = fc.tuple(address, fc.nat(128)).map(([a, p]) => cidrOf(a, a.family === 4 ? p % 33 : p) as Cidr);

describe('addresses', () => {
  test('parsing the text of an address returns the same address', () => {
    fc.assert(
      fc.property(address, (a) => {
        assert.deepEqual(parseAddress(formatAddress(a)), a);
      }),
    );
  });

  test('canonical IPv6 text agrees with the URL standard, whose serializer is RFC 5952 without dotted quads', () => {
    fc.assert(
      fc.property(sparseV6, (a) => {
        fc.pre(a.value >> 32n !== 0xffffn);
        const groups = a.value.toString(16).padStart(32, '0').match(/.{4}/g)?.join(':') ?? '';
        assert.equal(`[${formatAddress(a)}]`, new URL(`http://[${groups}]/`).hostname);
      }),
    );
  });

  test('the parser accepts exactly what node:net accepts', () => {
    const nearly = fc.oneof(
      fc
        .array(fc.constantFrom('0', '00', '1', '255', '256', 'fe80', 'FFFF', '12345', '::', ':', '.', '1.2.3.4', ''), { maxLength: 14 })
        .map((parts) => parts.join('')),
      fc.array(fc.constantFrom('0', 'f', 'FFFF', '', '10.0.0.1', '12345'), { maxLength: 9 }).map((parts) => parts.join(':')),
      fc.array(fc.constantFrom('0', '01', '255', '256', ''), { maxLength: 5 }).map((parts) => parts.join('.')),
    );
    fc.assert(
      fc.property(nearly, (text) => {
        assert.equal(parseAddress(text)?.family, isIPv4(text) ? 4 : isIPv6(text) ? 6 : undefined, text);
        assert.equal(addressProblem(text) === undefined, parseAddress(text) !== undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test('spelling', () => {
    assert.equal(canonicalAddress('fd00:10:16::000E'), 'fd00:10:16::e');
    assert.equal(addressSpelling('fd00:10:16::000E'), 'upper-case');
    assert.equal(addressSpelling('fd00:10:16::000e'), 'not-canonical');
    assert.equal(addressSpelling('fd00:10:16::e'), 'canonical');
    assert.equal(addressSpelling('10.16.0.256'), 'invalid');
    assert.equal(canonicalAddress('0:0:1:0:0:0:0:1'), '0:0:1::1');
    assert.equal(canonicalAddress('1:0:2:3:4:5:6:7'), '1:0:2:3:4:5:6:7');
    assert.equal(canonicalAddress('::ffff:10.0.0.1'), '::ffff:10.0.0.1');
    assert.equal(canonicalAddress('::'), '::');
    for (const wrong of ['', ' 10.0.0.1', '10.0.0.01', '10.0.0.1/24', 'fe80::1%eth0', '1::2::3', '10.0.0', ':1::2']) {
      assert.equal(parseAddress(wrong), undefined);
      assert.ok(addressProblem(wrong));
    }
    assert.ok(compareAddresses({ family: 4, value: 9n }, { family: 6, value: 1n }) < 0);
  });
});

describe('CIDR blocks', () => {
  test('parsing the text of a block returns the same block; contains and overlaps agree with the numbers', () => {
    fc.assert(
      fc.property(cidr, cidr, address, (a, b, at) => {
        assert.deepEqual(parseCidr(formatCidr(a)), a);
        const end = (c: Cidr): bigint => c.base + cidrSize(c) - 1n;
        assert.equal(cidrContains(a, at), a.family === at.family && a.base <= at.value && at.value <= end(a));
        assert.equal(cidrCovers(a, b), a.family === b.family && a.base <= b.base && end(b) <= end(a));
        assert.equal(cidrsOverlap(a, b), a.family === b.family && a.base <= end(b) && b.base <= end(a));
      }),
    );
  });

  test('usable addresses', () => {
    const ends = (text: string): string => {
      const c = parseCidr(text) as Cidr;
      return `${formatAddress(firstUsable(c))} ${formatAddress(lastUsable(c))}`;
    };
    assert.equal(ends('10.16.0.0/16'), '10.16.0.1 10.16.255.254');
    assert.equal(ends('10.0.0.0/31'), '10.0.0.0 10.0.0.1');
    assert.equal(ends('10.0.0.7/32'), '10.0.0.7 10.0.0.7');
    assert.equal(ends('10.0.0.0/30'), '10.0.0.1 10.0.0.2');
    assert.equal(ends('fd00::/64'), 'fd00::1 fd00::ffff:ffff:ffff:ffff', 'IPv6 has no broadcast address');
    assert.equal(ends('fd00::/127'), 'fd00:: fd00::1');
    assert.equal(ends('fd00::5/128'), 'fd00::5 fd00::5');
    assert.ok(!isUsable(parseCidr('10.0.0.0/24') as Cidr, { family: 4, value: 0x0a0000ffn }));
  });

  test('a CIDR has no host bits, an interface address keeps them', () => {
    assert.equal(canonicalCidr('10.16.3.4/16'), '10.16.0.0/16');
    const parsed = parseInterfaceAddress('10.16.0.1/16');
    assert.ok(parsed);
    assert.equal(formatAddress(parsed.address), '10.16.0.1');
    for (const wrong of ['', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/', 'x/24', 'fd00::/129', '10.0.0.0/24/1']) {
      assert.equal(parseCidr(wrong), undefined, wrong);
      assert.ok(cidrProblem(wrong));
    }
  });
});

describe('ranges', () => {
  test('reads two dots, writes a dash', () => {
    const range = parseRange('10.0.0.5..10.0.0.9');
    assert.ok(range);
    assert.equal(formatRange(range), '10.0.0.5-10.0.0.9');
    assert.equal(
      formatIntervals(4, [
        { first: 1n, last: 1n },
        { first: 3n, last: 4n },
      ]),
      '0.0.0.1,0.0.0.3-0.0.0.4',
    );
    assert.equal(formatIntervals(6, []), '');
    assert.deepEqual(parseRangeOrCidr('10.0.0.0/30'), { family: 4, first: 0x0a000000n, last: 0x0a000003n });
    for (const wrong of [
      '',
      '10.0.0.9..10.0.0.5',
      '10.0.0.1..fd00::1',
      '10.0.0.1-10.0.0.2',
      '10.0.0.1..',
      '..10.0.0.1',
      '10.0.0.1...10.0.0.2',
      '10.0.0.0/24',
    ]) {
      assert.equal(parseRange(wrong), undefined, wrong);
      assert.ok(rangeProblem(wrong));
    }
  });
});

describe('lists of ranges and their cover', () => {
  test('a problem of a network or range names the part that is no address, and its rule', () => {
    const rule = 'which is not an IPv4 address (each of the four numbers is 0 to 255, without leading zeros)';
    assert.equal(cidrProblem('10.078.0.0/16'), `begins with "10.078.0.0", ${rule}`);
    assert.equal(rangeProblem('10.0.0.256..10.0.1.1'), `begins with "10.0.0.256", ${rule}`);
    assert.equal(rangeProblem('10.0.0.1..10.0.0.09'), `ends with "10.0.0.09", ${rule}`);
    assert.match(`${cidrProblem('fd00::1::/64')}`, /^begins with "fd00::1::", which is not an IPv6 address \(/);
    assert.equal(cidrProblem('web/24'), 'does not begin with an IP address');
    assert.equal(cidrProblem('/24'), 'does not begin with an IP address');
    assert.equal(rangeProblem('10.0.0.1..'), 'does not end with an IP address');
  });

  test('a problem names the item', () => {
    const parsed = parseRanges(['10.0.0.1', '10.0.0.5..10.0.0.6', '10.0.1.0/24'], 'ranges-and-cidrs');
    assert.ok(parsed.ok && parsed.ranges.length === 3);
    assert.deepEqual(parseRanges(['10.0.0.1', 'x/24'], 'ranges-and-cidrs'), {
      ok: false,
      item: 'x/24',
      form: 'CIDR address',
      problem: 'does not begin with an IP address',
    });
    assert.deepEqual(parseRanges(['10.0.0.0/24'], 'ranges'), {
      ok: false,
      item: '10.0.0.0/24',
      form: 'IP address',
      problem: 'has a prefix length where a single address is wanted',
    });
  });

  test('covers exactly the range, with blocks that cannot be joined', () => {
    const range = fc.tuple(address, fc.bigInt({ min: 0n, max: 1n << 40n })).map(([{ family, value }, length]) => {
      const end = (1n << (family === 4 ? 32n : 128n)) - 1n;
      return { family, first: value, last: value + length > end ? end : value + length };
    });
    fc.assert(
      fc.property(range, (r) => {
        const blocks = cidrCover(r);
        let next = r.first;
        for (const [i, block] of blocks.entries()) {
          assert.equal(block.base, next);
          assert.deepEqual(cidrOf({ family: r.family, value: block.base }, block.prefix), block, 'is aligned');
          next = block.base + cidrSize(block);
          const after = blocks[i + 1];
          const parent = cidrOf({ family: r.family, value: block.base }, block.prefix - 1);
          assert.ok(
            after === undefined || parent === undefined || after.prefix !== block.prefix || !cidrCovers(parent, after),
            'could not be joined',
          );
        }
        assert.equal(next, r.last + 1n);
      }),
    );
    assert.deepEqual(cidrCover({ family: 4, first: 0n, last: (1n << 32n) - 1n }).map(formatCidr), ['0.0.0.0/0']);
  });

  test('a step goes around the end', () => {
    assert.equal(formatAddress(stepAddress({ family: 4, value: (1n << 32n) - 1n }, 2n)), '0.0.0.1');
    assert.equal(formatAddress(stepAddress({ family: 6, value: 0n }, -1n)), 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
  });
});

describe('MACs', () => {
  test('one spelling', () => {
    for (const text of ['0A:00:00:ab:CD:ef', '0a-00-00-AB-cd-ef', '0a00.00ab.cdef']) assert.equal(parseMac(text), '0a:00:00:ab:cd:ef');
    for (const wrong of [
      '',
      '01:00:5e:00:00:01',
      'ff:ff:ff:ff:ff:ff',
      '00:00:00:00:00:00',
      '0a:00:00:ab:cd',
      '0a:00-00:ab:cd:ef',
      '0a:00:00:ab:cd:eg',
    ]) {
      assert.equal(parseMac(wrong), undefined, wrong);
      assert.ok(macProblem(wrong));
    }
  });

  test('from bytes: locally administered unicast, and a number and back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 8 }), (bytes) => {
        const mac = macFromBytes(bytes);
        assert.equal(parseMac(mac), mac);
        assert.equal(Number.parseInt(mac.slice(0, 2), 16) & 3, 2);
        assert.equal(macFromNumber(macToNumber(mac)), mac);
      }),
    );
    assert.throws(() => macFromBytes(new Uint8Array(5)), RangeError);
  });
});

describe('dual lists', () => {
  test('any order in, IPv4 first out', () => {
    const addresses = parseDualAddress('fd00::5, 10.0.0.5');
    assert.ok(addresses.ok);
    assert.equal(formatDualAddress(addresses), '10.0.0.5,fd00::5');
    assert.equal(protocolOf(addresses), 'Dual');
    const cidrs = parseDualCidr('fd00::1/64,10.0.0.1/24');
    assert.ok(cidrs.ok);
    assert.equal(formatDualCidr(cidrs), '10.0.0.0/24,fd00::/64');
    assert.deepEqual(splitList(' '), []);
    for (const wrong of ['', '10.0.0.1,', '10.0.0.1,10.0.0.2', 'fd00::1,x', '10.0.0.1;fd00::1']) {
      const result = parseDualAddress(wrong);
      assert.ok(!result.ok && result.problem !== '');
    }
  });
});
