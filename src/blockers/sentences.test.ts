import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { blockedSentence, deniedDeletionSentence } from './sentences.ts';

const one = { count: 1, names: ['IP a.shop'], edits: [] };
const many = { count: 13, names: ['IP a.shop', 'IP b.shop'], edits: [] };

test('the message names the first blockers, the number of others, and the next command', () => {
  assert.equal(
    blockedSentence(DEFAULT_SETTINGS, 'subnets', 'red', many),
    'Subnet red cannot be deleted: 13 objects still use it: IP a.shop, IP b.shop and 11 more. It is deleted when they are gone; kubectl get subnets red shows the state',
  );
  assert.match(
    blockedSentence(DEFAULT_SETTINGS, 'subnets', 'red', one),
    /: one object still uses it: IP a\.shop\. It is deleted when that is gone;/,
  );
});

test('for an object that the cluster needs, the message reads: no action is needed', () => {
  for (const [resource, name] of [
    ['vpcs', 'ovn-cluster'],
    ['subnets', 'join'],
  ] as const)
    assert.match(
      blockedSentence(DEFAULT_SETTINGS, resource, name, many),
      /The cluster needs it: it stays in effect and accepts new dependents; nothing needs to be done\. It is deleted when they and the last node are gone, and Kiln creates it again; kubectl get /,
    );
  assert.match(
    blockedSentence(DEFAULT_SETTINGS, 'subnets', 'ovn-default', one),
    /It is deleted when that is gone, and Kiln creates it again at once; a pod that needs a new address in it waits until then; /,
  );
});

test('a denied deletion names the cascade, except for a built-in object, which the cascade does not delete', () => {
  assert.match(deniedDeletionSentence(DEFAULT_SETTINGS, 'vpcs', 'blue', one), /kiln delete vpc blue --cascade$/);
  assert.match(
    deniedDeletionSentence(DEFAULT_SETTINGS, 'vpcs', 'ovn-cluster', one),
    /one object still uses it: .*\. Vpc ovn-cluster is built in: Kiln would create it again at once$/,
  );
});
