import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTROLLER_LEASE, FINALIZER, POD_CONDITION } from '../../src/api/well-known.ts';
import { Desired } from '../../src/compile/desired.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { DEFAULT_SETTINGS } from '../../src/world/settings.ts';
import { World } from '../../src/world/world.ts';
import { Gauges } from './gauges.ts';
import { metricsAtRest } from './metrics-at-rest.ts';

const BLOCKED = { conditions: [{ type: 'DeletionBlocked', status: 'True', reason: 'InUse', message: '' }] };
const COUNTED = { conditions: [{ type: 'Accepted', status: 'True', message: '' }], v4availableIPs: '250', v4usingIPs: '3' };

/** Process a holds the Lease and writes with term 4; Subnet red has 3 addresses in use and 250 free, Vpc blue waits to go. */
function foundWhere(show: (gauges: Gauges) => void, isLeader = true, more: Readonly<Record<string, object>> = {}): readonly string[] {
  const store = new ObjectStore(100);
  const put = (table: string, key: string, object: object): void => void store.put(table, key, object as KubeObject);
  put('leases', `kube-system/${CONTROLLER_LEASE}`, {
    kind: 'Lease',
    metadata: { name: CONTROLLER_LEASE, uid: 'l' },
    spec: { holderIdentity: isLeader ? 'a-1' : 'b-1' },
  });
  put('subnets.kubeovn.io', 'red', {
    kind: 'Subnet',
    metadata: { name: 'red', uid: 'red' },
    spec: { cidrBlock: '10.0.0.0/24' },
    status: COUNTED,
  });
  const going = { name: 'blue', uid: 'blue', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] };
  put('vpcs.kubeovn.io', 'blue', { kind: 'Vpc', metadata: going, status: BLOCKED });
  for (const [at, object] of Object.entries(more)) put(at.split(' ')[0] ?? '', at.split(' ')[1] ?? '', object);
  const gauges = new Gauges();
  gauges.read('kiln_ready', (report) => report({}, 1));
  if (isLeader)
    for (const [name, value] of [
      ['kiln_leader', 1],
      ['kiln_term', 4],
    ] as const)
      gauges.read(name, (report) => report({}, value));
  gauges.read('kiln_deletion_blocked_objects', (report) => report({ kind: 'Vpc' }, 1));
  gauges.keep('kiln_subnet_addresses', 'red', addresses(3));
  show(gauges);
  const fresh = { world: new World(DEFAULT_SETTINGS), desired: new Desired() };
  return metricsAtRest([{ name: 'a', identity: 'a-1', gauges }], fresh, store, 4).map(({ message }) => message);
}

function addresses(used: number): Parameters<Gauges['keep']>[2] {
  const states = { capacity: 256, used, reserved: 3, available: 250 };
  return Object.entries(states).map(([state, value]) => ({ labels: { subnet: 'red', family: 'IPv4', state }, value }));
}

test('what a process shows that is so is left in peace, of who leads and of who waits', () => {
  assert.deepEqual(
    foundWhere(() => undefined),
    [],
  );
  assert.deepEqual(
    foundWhere(() => undefined, false),
    [],
  );
});

test('a gauge that is off is told, with what there is', () => {
  const found = (show: (gauges: Gauges) => void): string => foundWhere(show).join('; ');
  assert.equal(
    found((gauges) => gauges.read('kiln_deletion_blocked_objects', (report) => report({ kind: 'Vpc' }, 2))),
    'a shows kiln_deletion_blocked_objects 2 of Vpc, and there are 1',
  );
  assert.equal(
    found((gauges) => gauges.keep('kiln_subnet_addresses', 'red', addresses(4))),
    'a shows kiln_subnet_addresses 4 of red IPv4 used, and there are 3',
  );
  assert.match(
    found((gauges) =>
      gauges.keep('kiln_subnet_addresses', 'gone', [{ labels: { subnet: 'gone', family: 'IPv4', state: 'used' }, value: 1 }]),
    ),
    /1 of gone IPv4 used, and there are 0/,
  );
  assert.equal(
    found((gauges) => gauges.read('kiln_desired_rows', (report) => report({ table: 'ACL' }, 1))),
    'a shows kiln_desired_rows 1 of ACL, and there are 0',
  );
  assert.match(
    found((gauges) => gauges.read('kiln_term', (report) => report({}, 3))),
    /kiln_term 3, and there are 4/,
  );
});

test('a pod that is on the wrong Subnet counts until it has ended and holds nothing', () => {
  const condition = { type: POD_CONDITION, status: 'True', reason: 'Misbound', message: '' };
  const pod = (phase: string): object => ({
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'web' },
    status: { phase, conditions: [condition] },
  });
  const ip = { kind: 'IP', metadata: { name: 'web.shop', uid: 'ip' }, spec: {} };
  const found = (shown: number, phase: string, held: boolean): readonly string[] =>
    foundWhere((gauges) => gauges.read('kiln_misbound_pods', (report) => report({}, shown)), true, {
      'pods shop/web': pod(phase),
      ...(held && { 'ips.kubeovn.io web.shop': ip }),
    });
  for (const [phase, held] of [
    ['Running', true],
    ['Running', false],
    ['Failed', true],
  ] as const) {
    assert.deepEqual(found(1, phase, held), []);
    assert.deepEqual(found(0, phase, held), ['a shows kiln_misbound_pods 0, and there are 1']);
  }
  assert.deepEqual(found(0, 'Failed', false), []);
});
