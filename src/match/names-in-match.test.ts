/** Held against OVN: what names a set that is not there is dropped by ovn-controller's parser, and taken once it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOvn } from '../lab/programs/ovn.ts';
import { namesInMatch } from './names-in-match.ts';
import { OvnJudge } from './testing/ovn-judge.ts';

test('names of sets and groups, each once; in quotation marks there is none', () => {
  const named = (text: string): readonly string[] => namesInMatch(text).map(({ kind, name }) => `${kind} ${name}`);
  assert.deepEqual(named('ip4.src == {$a.b, 10.0.0.1} && inport == @p && (ip4.dst == $a.b || outport == {"@q", @_r})'), [
    'address set a.b',
    'port group p',
    'port group _r',
  ]);
  assert.deepEqual(named('inport == "$a" /* $b */ && ip4 // $c'), []);
});

test('OVN reads a match with a set that is there, and not one with a set that is not', async () => {
  const releases = (['system', '25.03'] as const).filter((release) => findOvn(release) !== undefined);
  assert.ok(releases.length > 0, 'there is no OVN to ask');
  for (const release of releases) {
    await using judge = await OvnJudge.start(release);
    const matches = ['ip4.src == $as', 'inport == @pg', 'ip4.src == $pg_ip4', 'ip4.src == $none', 'inport == @none'];
    const said = await judge.judge(matches.map((match) => ({ match })));
    assert.deepEqual(
      matches.filter((_, i) => said[i] !== undefined),
      ['ip4.src == $none', 'inport == @none'],
      said.join('\n'),
    );
  }
});
