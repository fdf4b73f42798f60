import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeKeys } from './keys.ts';

const keys = makeKeys(Date.UTC(2030, 0, 1));
const all = (text: string | undefined): readonly X509Certificate[] =>
  (text ?? '').split(/(?<=-----END CERTIFICATE-----\n)/).flatMap((one) => (one === '' ? [] : [new X509Certificate(one)]));
/** Whether one of the authorities signed it. */
const trusts = (authorities: string | undefined, certificate: string | undefined): boolean =>
  all(authorities).some((authority) => all(certificate)[0]?.verify(authority.publicKey) === true);

test('the Northbound database trusts members and the controller, and not the nodes', () => {
  const { members, controller, nodes } = keys;
  assert.ok(trusts(members['nb-cacert'], members['nb-cert']));
  assert.ok(trusts(members['nb-cacert'], members['northd-cert']));
  assert.ok(trusts(members['nb-cacert'], controller['cert']));
  assert.ok(trusts(controller['cacert'], members['nb-cert']));
  assert.ok(!trusts(members['nb-cacert'], nodes['cert']));
  assert.ok(!trusts(members['nb-cacert'], members['sb-cert']), 'nor who has the keys of the Southbound database');
});

test('the Southbound database trusts members, northd and nodes, and they it', () => {
  const { members, nodes } = keys;
  for (const certificate of [members['sb-cert'], members['northd-cert'], nodes['cert']])
    assert.ok(trusts(members['sb-cacert'], certificate));
  assert.ok(trusts(nodes['cacert'], members['sb-cert']));
  assert.ok(trusts(members['northd-cacert'], members['sb-cert']));
  assert.ok(trusts(members['northd-cacert'], members['nb-cert']));
});

test('nodes get nothing of the authority of members; certificates end after ten years', () => {
  assert.deepEqual(Object.keys(keys.nodes).toSorted(), ['cacert', 'cert', 'key']);
  assert.equal(all(keys.nodes['cacert']).length, 1);
  assert.equal(all(keys.members['nb-cert'])[0]?.validToDate.getUTCFullYear(), 2039);
});
