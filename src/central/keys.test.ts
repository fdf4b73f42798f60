import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeKeys, withClusterKeys } from './keys.ts';

const keys = makeKeys(Date.UTC(2030, 0, 1));
const all = (text: string | undefined): readonly X509Certificate[] =>
  (text ?? '').split(/(?<=-----END CERTIFICATE-----\n)/).flatMap((one) => (one === '' ? [] : [new X509Certificate(one)]));
/** Whether one of the authorities signed it. */
const trusts = (authorities: string | undefined, certificate: string | undefined): boolean =>
  all(authorities).some((authority) => all(certificate)[0]?.verify(authority.publicKey) === true);

test('the Northbound database trusts northd and the controller, and not the nodes', () => {
  const { members, controller, nodes } = keys;
  assert.ok(trusts(members['nb-cacert'], members['nb-cert']));
  assert.ok(trusts(members['nb-cacert'], members['northd-cert']));
  assert.ok(trusts(members['nb-cacert'], controller['cert']));
  assert.ok(trusts(controller['cacert'], members['nb-cert']));
  assert.ok(!trusts(members['nb-cacert'], nodes['cert']));
  assert.ok(!trusts(members['nb-cacert'], members['sb-cert']), 'nor who has the keys of the Southbound database');
});

test('the Southbound database trusts northd and nodes, and they it', () => {
  const { members, nodes } = keys;
  for (const certificate of [members['sb-cert'], members['northd-cert'], nodes['cert']])
    assert.ok(trusts(members['sb-cacert'], certificate));
  assert.ok(trusts(nodes['cacert'], members['sb-cert']));
  assert.ok(trusts(members['northd-cacert'], members['sb-cert']));
  assert.ok(trusts(members['northd-cacert'], members['nb-cert']));
});

test('a member trusts members, and nobody who has any other key; nobody else gets a key of theirs', () => {
  const { cluster, members, controller, nodes } = keys;
  assert.ok(trusts(cluster['cacert'], cluster['cert']));
  assert.equal(all(cluster['cacert']).length, 1);
  for (const certificate of [members['nb-cert'], members['sb-cert'], members['northd-cert'], controller['cert'], nodes['cert']])
    assert.ok(!trusts(cluster['cacert'], certificate));
  assert.ok(!JSON.stringify([controller, nodes]).includes(JSON.stringify(cluster['key'])));
});

test('keys of an earlier release stay, and get those of members', () => {
  const { cluster: _, ...earlier } = keys;
  const both = withClusterKeys(earlier, Date.UTC(2030, 0, 1));
  assert.ok(both.hadOthers);
  assert.deepEqual([both.members, both.controller, both.nodes], [keys.members, keys.controller, keys.nodes]);
  assert.ok(trusts(both.cluster['cacert'], both.cluster['cert']));
  assert.equal(keys.hadOthers, undefined);
});

test('nodes get nothing of the authority of members; certificates end after ten years', () => {
  assert.deepEqual(Object.keys(keys.nodes).toSorted(), ['cacert', 'cert', 'key']);
  assert.equal(all(keys.nodes['cacert']).length, 1);
  assert.equal(all(keys.members['nb-cert'])[0]?.validToDate.getUTCFullYear(), 2039);
});
