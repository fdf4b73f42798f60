/** Compares with OVN: ovn-controller ignores a match that names a missing set, and accepts it once the set exists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOvn } from '../../lab/programs/ovn.ts';
import { setComparisons } from './match-problem.ts';
import { namesInMatch } from './names-in-match.ts';
import { OvnVerdicts } from './testing/ovn-verdicts.ts';

test('returns names of sets and groups, each once, and none in quotation marks', () => {
  const named = (text: string): readonly string[] => namesInMatch(text).map(({ kind, name }) => `${kind} ${name}`);
  assert.deepEqual(named('ip4.src == {$a.b, 10.0.0.1} && inport == @p && (ip4.dst == $a.b || outport == {"@q", @_r})'), [
    'address set a.b',
    'port group p',
    'port group _r',
  ]);
  assert.deepEqual(named('inport == "$a" /* $b */ && ip4 // $c'), []);
});

test('OVN accepts a match with an existing set, and none with a missing set', async () => {
  const releases = (['system', '25.03'] as const).filter((release) => findOvn(release) !== undefined);
  assert.ok(releases.length > 0, 'there is no OVN to ask');
  for (const release of releases) {
    await using ovn = await OvnVerdicts.start(release);
    const matches = ['ip4.src == $as', 'inport == @pg', 'ip4.src == $pg_ip4', 'ip4.src == $none', 'inport == @none'];
    const verdicts = await ovn.verdictsOn(matches.map((match) => ({ match })));
    assert.deepEqual(
      matches.filter((_, i) => verdicts[i] !== undefined),
      ['ip4.src == $none', 'inport == @none'],
      verdicts.join('\n'),
    );
  }
});

test('a set whose addresses are wider than the field makes OVN reject the match: each comparison is returned with the width', async () => {
  const bits = (text: string): readonly string[] => setComparisons(text).map(({ set, field, bits: width }) => `${set} ${field} ${width}`);
  assert.deepEqual(bits('ip4.src == {$a, 10.0.0.1, $b} && ($c == ip6.dst || !(eth.src != $d)) && inport == @e'), [
    'a ip4.src 32',
    'b ip4.src 32',
    'c ip6.dst 128',
    'd eth.src 48',
  ]);
  assert.deepEqual(bits('ip4.src == $a &&'), []);
  const widths: Readonly<Record<string, number>> = { as: 32, as6: 128 };
  const fields = ['ip4.src', 'ip6.src', 'eth.src', 'arp.spa', 'nd.target', 'tcp.dst', 'reg0', 'ct_label', 'ip4.dst[0..7]'];
  const matches = fields.flatMap((field) => [`${field} == $as`, `${field} != $as6`, `{1, $as6} == ${field}`]);
  await using ovn = await OvnVerdicts.start('system');
  const verdicts = await ovn.verdictsOn(matches.map((match) => ({ match })));
  assert.deepEqual(
    matches.filter((match) => setComparisons(match).some(({ set, bits: width }) => (widths[set] ?? 0) > width)),
    matches.filter((_, i) => verdicts[i] !== undefined),
    verdicts.join('\n'),
  );
});
