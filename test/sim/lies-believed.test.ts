import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import { liesBelieved } from './lies-believed.ts';

const row = (name: string, owner: string, subnet: string, station: string): StoredRow => ({
  name,
  type: '',
  addresses: new Set([station]),
  external_ids: new Map([
    ['kiln.io/owner', owner],
    ['ls', subnet],
  ]),
});

test("a port of a pod that lies is found with an address of another's in its Subnet, and with any in the join Subnet", () => {
  const liar = { metadata: { name: 'liar', namespace: 'bad', labels: { lies: 'true' } } } as unknown as KubeObject;
  const store = { list: () => [liar] } as unknown as ObjectStore;
  const victim = row('web.shop', 'pod/shop/web', 'red', '0a:00:00:00:00:01 10.1.0.2');
  const found = (subnet: string, address: string): readonly string[] =>
    liesBelieved(store, [victim, row('liar.bad', 'pod/bad/liar', subnet, `0a:00:00:00:00:02 ${address}`)]).map(({ message }) => message);
  assert.match(found('red', '10.1.0.2').join(), /liar.*10\.1\.0\.2 of Subnet red, which port web\.shop has/);
  assert.match(found('join', '100.64.0.9').join(), /liar.*Subnet join/);
  assert.deepEqual([found('red', '10.1.0.3'), found('blue', '10.1.0.2')], [[], []]);
});
