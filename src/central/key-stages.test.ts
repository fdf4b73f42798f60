import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { DATABASE_NAMES, type DatabaseName } from './databases.ts';
import { clusterKeys, firstStage, type KeyStage, nextStage } from './key-stages.ts';
import { makeKeys, type Material, withClusterKeys } from './keys.ts';

const fresh = makeKeys(Date.UTC(2030, 0, 1));
const { cluster: _, ...earlier } = fresh;
const upgraded = withClusterKeys(earlier, Date.UTC(2030, 0, 1));
const MEMBERS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

const certificates = (text = ''): readonly X509Certificate[] =>
  (text.match(/-----BEGIN[^]+?-----END CERTIFICATE-----\n/g) ?? []).map((one) => new X509Certificate(one));
const accepts = (server: Material, client: Material): boolean =>
  certificates(server['cacert']).some(({ publicKey }) => certificates(client['cert'])[0]?.verify(publicKey) === true);
/** Of a member of an earlier release. */
const old = (name: DatabaseName): Material => ({
  cert: upgraded.members[`${name}-cert`] ?? '',
  cacert: upgraded.members[`${name}-cacert`] ?? '',
});

test('new clusters begin with the keys of members alone', () => {
  assert.equal(firstStage(fresh, {}, '10.0.0.1'), 'requires');
  for (const name of DATABASE_NAMES) assert.deepEqual(clusterKeys(fresh, name, 'requires'), fresh.cluster);
});

test('a member that comes back goes on where it was, or where the others are', () => {
  assert.equal(firstStage(upgraded, {}, '10.0.0.1'), 'accepts');
  assert.equal(firstStage(upgraded, { '10.0.0.1': 'shows' }, '10.0.0.1'), 'shows');
  assert.equal(firstStage(upgraded, { '10.0.0.2': 'shows' }, '10.0.0.1'), 'accepts');
  assert.equal(firstStage(upgraded, { '10.0.0.2': 'requires' }, '10.0.0.1'), 'requires');
  assert.equal(firstStage(upgraded, {}, '10.0.0.1', 'requires'), 'requires', 'the ConfigMap is new, its disk is not');
  assert.equal(firstStage(upgraded, {}, '10.0.0.1', 'shows'), 'shows');
});

test('nobody changes keys while a member of the earlier release runs, or one is away', () => {
  for (const address of MEMBERS) {
    assert.equal(nextStage({}, MEMBERS, address), undefined);
    assert.equal(nextStage({ '10.0.0.1': 'accepts', '10.0.0.2': 'accepts' }, MEMBERS, address), undefined);
  }
});

for (const count of [1, 2, 3, 5])
  test(`${count} members change one at a time, and each accepts all others throughout`, () => {
    const members = Array.from({ length: count }, (_unused, at) => `10.0.0.${at + 1}`);
    const stages: Record<string, KeyStage> = {};
    const check = (): void => {
      for (const name of DATABASE_NAMES) {
        const keys = members.map((member) => {
          const stage = stages[member];
          return stage === undefined ? old(name) : clusterKeys(upgraded, name, stage);
        });
        for (const server of keys) for (const client of keys) assert.ok(accepts(server, client), `${name}: ${JSON.stringify(stages)}`);
      }
    };
    check();
    // The rolling update.
    for (const member of members.toReversed()) {
      assert.deepEqual(
        members.filter((one) => nextStage(stages, members, one) !== undefined),
        [],
      );
      stages[member] = firstStage(upgraded, stages, member);
      check();
    }
    for (let turns = 0; turns < 2 * count; turns++) {
      const going = members.filter((one) => nextStage(stages, members, one) !== undefined);
      assert.equal(going.length, 1);
      const [member = ''] = going;
      stages[member] = nextStage(stages, members, member) as KeyStage;
      check();
    }
    assert.deepEqual([...new Set(Object.values(stages))], ['requires']);
    for (const member of members) assert.equal(nextStage(stages, members, member), undefined);
    for (const name of DATABASE_NAMES) assert.ok(!accepts(clusterKeys(upgraded, name, 'requires'), old(name)));
  });
