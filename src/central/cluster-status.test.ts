import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterServer, type ClusterStatus, parseClusterStatus, serversToRemove } from './cluster-status.ts';

/** As ovsdb-server 3.1 prints it. */
const LEADER = `b4f3
Name: OVN_Northbound
Cluster ID: 5d6e (5d6e7cc5-0a54-4a43-9d07-0b6a0f5e4b0e)
Server ID: b4f3 (b4f3a0f0-6b21-4f51-8b71-3a3d7f3f2a11)
Address: ssl:10.0.0.1:6643
Status: cluster member
Role: leader
Term: 3
Leader: self
Vote: self

Last Election started 9000 ms ago, reason: timeout
Last Election won: 8990 ms ago
Election timer: 5000
Log: [2, 14]
Entries not yet committed: 0
Entries not yet applied: 0
Connections: ->c0de <-c0de ->f00d
Disconnections: 1
Servers:
    c0de (c0de at ssl:10.0.0.2:6643) next_index=14 match_index=13 last msg 320 ms ago
    b4f3 (b4f3 at ssl:10.0.0.1:6643) (self) next_index=2 match_index=13
    f00d (f00d at ssl:[fd00::3]:6643) next_index=14 match_index=0
`;

test('the status of a leader', () => {
  assert.deepEqual(parseClusterStatus(LEADER), {
    cluster: '5d6e7cc5-0a54-4a43-9d07-0b6a0f5e4b0e',
    self: 'b4f3',
    isMember: true,
    isLeader: true,
    knowsLeader: true,
    term: 3,
    servers: [
      { id: 'c0de', address: '10.0.0.2', isSelf: false, silentMs: 320 },
      { id: 'b4f3', address: '10.0.0.1', isSelf: true, silentMs: undefined },
      { id: 'f00d', address: 'fd00::3', isSelf: false, silentMs: undefined },
    ],
  });
});

test('a server that joins, one without a leader, and what is no status', () => {
  const joining = LEADER.replace('cluster member', 'joining cluster')
    .replace('Leader: self', 'Leader: unknown')
    .replace('Role: leader', 'Role: follower');
  const status = parseClusterStatus(joining);
  assert.deepEqual([status?.isMember, status?.isLeader, status?.knowsLeader], [false, false, false]);
  assert.equal(parseClusterStatus('"cluster/status" is not a valid command'), undefined);
});

const server = (id: string, address: string, silentMs?: number): ClusterServer => ({ id, address, isSelf: false, silentMs });
const self: ClusterServer = { id: 'a', address: '1', isSelf: true, silentMs: undefined };
const status = (...others: readonly ClusterServer[]): ClusterStatus => ({
  cluster: 'c',
  self: 'a',
  isMember: true,
  isLeader: true,
  knowsLeader: true,
  term: 1,
  servers: [self, ...others],
});
const removed = (members: readonly string[] | undefined, ...others: readonly ClusterServer[]): readonly string[] =>
  serversToRemove(status(...others), members).map(({ id }) => id);

test('of two servers at one address the silent one is removed, and neither before the new one has spoken', () => {
  assert.deepEqual(removed(undefined, server('old', '2', 40_000), server('new', '2', 10)), ['old']);
  assert.deepEqual(removed(undefined, server('old', '2'), server('new', '2', 10)), ['old']);
  assert.deepEqual(removed(undefined, server('old', '2', 40_000), server('new', '2')), []);
  assert.deepEqual(removed(undefined, server('old', '1', 40_000)), ['old'], 'of the leader itself');
});

test('a server of a node that is gone is removed once it is silent; never because a node restarts, or the nodes are not known', () => {
  assert.deepEqual(removed(['1', '2'], server('b', '2', 600_000), server('c', '3', 90_000)), ['c']);
  assert.deepEqual(removed(['1', '2'], server('c', '3', 5_000)), []);
  assert.deepEqual(removed(undefined, server('c', '3', 90_000)), []);
});

test('only a leader removes', () => {
  assert.deepEqual(serversToRemove({ ...status(server('c', '3', 90_000)), isLeader: false }, ['1']), []);
});
