import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressIn, createCommand, endpoint, endpoints, joinCommand, northdCommand, serverCommand } from './databases.ts';
import { isNewer } from './member-database.ts';

const places = { directory: '/data', runDirectory: '/run/ovn', schemas: '/usr/share/ovn' };
const keys = { key: '/k', certificate: '/c', authorities: '/a' };

test('endpoints of both families', () => {
  assert.equal(endpoint('10.0.0.1', 6643), 'ssl:10.0.0.1:6643');
  assert.equal(endpoint('fd00::1', 6643), 'ssl:[fd00::1]:6643');
  for (const address of ['10.0.0.1', 'fd00::1']) assert.equal(addressIn(endpoint(address, 6643)), address);
  assert.equal(endpoints('sb', ['10.0.0.1', 'fd00::1']), 'ssl:10.0.0.1:6642,ssl:[fd00::1]:6642');
});

test('the arguments of the programs', () => {
  assert.deepEqual(createCommand('nb', places, '10.0.0.1'), [
    'ovsdb-tool',
    '--election-timer=5000',
    'create-cluster',
    '/data/ovnnb_db.db',
    '/usr/share/ovn/ovn-nb.ovsschema',
    'ssl:10.0.0.1:6643',
  ]);
  assert.deepEqual(joinCommand('sb', places, '10.0.0.2', ['10.0.0.1', '10.0.0.3'], 'x'), [
    'ovsdb-tool',
    '--cid=x',
    'join-cluster',
    '/data/ovnsb_db.db',
    'OVN_Southbound',
    'ssl:10.0.0.2:6644',
    'ssl:10.0.0.1:6644',
    'ssl:10.0.0.3:6644',
  ]);
  assert.deepEqual(serverCommand('nb', places, keys).slice(4), [
    '--remote=punix:/run/ovn/ovnnb_db.sock',
    '--unixctl=/run/ovn/ovnnb_db.ctl',
    '--private-key=/k',
    '--certificate=/c',
    '--ca-cert=/a',
    '/data/ovnnb_db.db',
  ]);
  const northd = northdCommand(places, keys, ['10.0.0.1', '10.0.0.2']);
  assert.ok(northd.includes('--ovnnb-db=ssl:10.0.0.1:6641,ssl:10.0.0.2:6641'));
});

test('versions of schemas compare by number', () => {
  assert.deepEqual(
    [isNewer('7.11.0', '7.2.1'), isNewer('7.2.1', '7.11.0'), isNewer('7.0.0', '7.0.0'), isNewer('20.33', '20.27.0')],
    [true, false, false, true],
  );
});
