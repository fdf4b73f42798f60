/** The findings of an audit of each kind, from what the parts of an audit say; and that no command of them ends what is in use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding, ProblemKind } from '../../explain/status.ts';
import { leftoverGroups } from '../../explain/leftovers.ts';
import { rowId } from '../../nb/row-id.ts';
import type { RowId } from '../../nb/row-id.ts';
import type { Uuid } from '../../ovsdb/index.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import type { AuditSources } from './audit-findings.ts';
import { auditGroups } from './audit-findings.ts';

const UUID = '70000000-0000-4000-8000-000000000001' as Uuid;
const PORT = rowId('Logical_Switch_Port', 'web.shop');
const IP = { resource: 'ips', namespace: '', name: 'gone.shop', events: [], uid: 'u' } as const;
const PATCH = { ...IP, verb: 'patch', subresource: undefined, style: 'merge' } as const;

function sources(more: Partial<AuditSources>): AuditSources {
  const { world } = new PodScene().bench;
  return {
    ...{ world, plan: { rows: [], objects: [] }, conflicts: [], violations: [], leftovers: [], kept: [] },
    status: { counts: {}, rows: 0, foreignRows: {}, neighbours: [], findings: [], notes: [] },
    ...more,
  };
}

function changing(change: 'insert' | 'delete' | 'update', id = PORT): AuditSources['plan'] {
  const table = id === PORT ? 'Logical_Switch_Port' : 'NB_Global';
  const edits = {
    insert: [{ kind: 'insert', table, uuid: UUID, row: {} }],
    delete: [{ kind: 'delete', table, uuid: UUID }],
    update: [{ kind: 'keys', table, uuid: UUID, column: 'options', set: { a: '1' }, remove: [] }],
  } as const;
  return { rows: [{ id, verdict: { kind: 'change', change, edits: edits[change], detail: '' } }], objects: [] } as never;
}

function told(what: ProblemKind, next: string): AuditSources['status'] {
  const finding: Finding = { what, kind: 'Subnet', resource: 'subnets', key: 'own', message: 'of it', since: '', next };
  return { ...sources({}).status, findings: [finding] };
}

const objects = (write: object): AuditSources['plan'] => ({ rows: [], objects: [write] }) as never;
const REMOVE = `ovn-nbctl remove Logical_Switch ${UUID} ports ${UUID}`;

/** Each kind of finding: what an audit is made of, and the finding as `invariant cause: subject`. */
const CASES: readonly (readonly [expected: string, more: Partial<AuditSources>])[] = [
  ['I3 a row is missing: Logical_Switch_Port web.shop', { plan: changing('insert') }],
  ['I3 a row has no object: Logical_Switch_Port web.shop', { plan: changing('delete') }],
  [
    'I3 a row has no object: Logical_Switch_Port web.shop',
    { kept: [{ table: 'Logical_Switch_Port', name: 'web.shop', why: 'pod/shop/web does not exist; a user paused the collection' }] },
  ],
  ['I3 a row differs: Logical_Switch_Port web.shop', { plan: changing('update') }],
  ['settings options of OVN are not those that the objects need: NB_Global ', { plan: changing('update', rowId('NB_Global', '')) }],
  ['I1 an address in use has no IP object: IP gone.shop', { plan: objects({ ...IP, verb: 'create' }) }],
  ['I1 an address leaked: its IP object has no pod: IP gone.shop', { plan: objects({ ...IP, verb: 'delete' }) }],
  ['I8 an object has lost its purpose: Vip gone.shop', { plan: objects({ ...IP, resource: 'vips', verb: 'delete' }) }],
  [
    'I7 a pod is not in the network of its namespace: Pod shop/web',
    { plan: objects({ ...IP, resource: 'pods', namespace: 'shop', name: 'web', verb: 'evict' }) },
  ],
  [
    'I2 counts or ranges disagree with the addresses: Subnet gone.shop',
    { plan: objects({ ...PATCH, resource: 'subnets', patch: { status: { v4usingIPs: 1 } } }) },
  ],
  ['I5 a finalizer is left that nothing needs: IP gone.shop', { plan: objects({ ...PATCH, patch: { metadata: { finalizers: [] } } }) }],
  [
    'I6 a row of another program has the name that an object needs: Logical_Switch_Port web.shop',
    { conflicts: [{ id: PORT, message: 'm' }] },
  ],
  ['I5 blocked: Subnet own', { status: told('blocked', REMOVE) }],
  ['I6 conflict: Subnet own', { status: told('conflict', 'kiln explain subnet own') }],
  ['I7 misbound: Subnet own', { status: told('misbound', 'kiln explain subnet own') }],
  ['settings not admitted: Subnet own', { status: told('not admitted', 'kiln explain subnet own') }],
  ['I7 not ready: Subnet own', { status: told('not ready', 'kiln explain subnet own') }],
  ['settings without effect: Subnet own', { status: told('without effect', 'ovn-nbctl remove NB_Global . options mac_prefix') }],
  ['I2 nearly full: Subnet own', { status: told('nearly full', 'kiln explain subnet own') }],
  ['settings outdated: Subnet own', { status: told('outdated', 'kubectl apply -f deploy/crds.yaml') }],
  [
    'I6 the objects and rows contradict each other: Pod shop/web',
    { violations: [{ invariant: 'I6', subject: 'Pod shop/web', message: 'm' }] },
  ],
];

/** What ends or changes something, in any program that a command names. */
const ENDS = /\b(?:destroy|remove|clear|delete|evict|drain)\b|-del\b|\bkubectl (?:patch|edit|scale)\b/;

test('each kind of finding has its invariant and cause, and a command that only looks', () => {
  for (const [expected, more] of CASES) {
    const found = auditGroups(sources(more)).flatMap(({ invariant, cause, findings }) =>
      findings.map((one) => ({ text: `${invariant} ${cause}: ${one.subject}`, next: one.next })),
    );
    assert.deepEqual(
      found.map(({ text }) => text),
      [expected],
    );
    assert.doesNotMatch(found[0]?.next ?? '', ENDS, expected);
    assert.notEqual(found[0]?.next, '', expected);
  }
});

test('leftovers: a removal is offered only of what has no effect and no user', () => {
  const scene = new PodScene();
  const { bench } = scene;
  scene.pod('web');
  bench.converge();
  const at = (last: number): string => `70000000-0000-4000-8000-${last.toString().padStart(12, '0')}`;
  const inSwitch = { table: 'Logical_Switch', uuid: at(1), column: 'ports' };
  const external_ids = { vendor: 'kube-ovn' };
  bench.foreignRow('Logical_Switch', at(1), { name: 'old', external_ids });
  bench.foreignRow('Logical_Switch_Port', at(2), { name: 'a.gone', external_ids }, inSwitch);
  const ghost = { name: 'ghost.shop', addresses: ['0a:00:00:00:00:01 10.16.0.99'], external_ids: { ...external_ids, pod: 'shop/ghost' } };
  bench.foreignRow('Logical_Switch_Port', at(6), ghost, inSwitch);
  bench.foreignRow('Logical_Switch_Port', at(3), { name: 'old-vpc', type: 'router', external_ids }, inSwitch);
  bench.foreignRow('Load_Balancer', at(5), { name: 'old-lb', external_ids, vips: { '10.96.0.9:80': '10.16.0.9:80' } });
  const leftovers = leftoverGroups(bench.world, bench.desired.rows);
  const all = auditGroups(sources({ world: bench.world, leftovers })).flatMap(({ findings }) => findings);
  const ending = all.filter(({ next }) => ENDS.test(next)).map(({ subject }) => subject);
  assert.ok(all.length >= 3, all.map(({ subject }) => subject).join(', '));
  assert.deepEqual(ending, ['Logical_Switch_Port a.gone']);
  assert.ok(
    all.some(
      ({ subject, message }) => subject.endsWith('ghost.shop') && message === 'OVN answers for 10.16.0.99; its pod shop/ghost is gone',
    ),
  );
});

test('the command for a row without a name of its own can be run: by UUID where it exists, else what it belongs into', () => {
  const made = new PodScene();
  const { world } = made.bench;
  made.subnet('red', { cidrBlock: '10.7.0.0/24', private: true, enableDHCP: true });
  made.bench.converge();
  const next = (id: RowId): string => {
    const [group] = auditGroups(sources({ world, plan: changing('update', id) }));
    return group?.findings[0]?.next ?? '';
  };
  const [acl] = [...world.rows.inTable('ACL')];
  const [route] = [...world.rows.inTable('Logical_Router_Policy')];
  assert.equal(next(acl?.id ?? assert.fail()), `ovn-nbctl list ACL ${acl?.uuid}`);
  assert.equal(next(route?.id ?? assert.fail()), `ovn-nbctl list Logical_Router_Policy ${route?.uuid}`);
  assert.equal(next(rowId('ACL', 'red', 'to-lport', '1', 'ip')), 'ovn-nbctl list Logical_Switch red');
  assert.equal(next(rowId('DHCP_Options', 'gone', 'IPv4', '')), 'ovn-nbctl list DHCP_Options');
  assert.equal(next(PORT), 'ovn-nbctl list Logical_Switch_Port web.shop');
});

test('a load balancer that Kube-OVN made without keys is not called that of another program; others are', () => {
  const { bench } = new PodScene();
  const found = (name: string, keys: object): readonly string[] => {
    const uuid = [...bench.northbound.table('Load_Balancer')].find(([, row]) => row['name'] === name)?.[0];
    if (uuid !== undefined) bench.removeForeignRow('Load_Balancer', uuid);
    bench.foreignRow('Load_Balancer', UUID, { name, external_ids: keys });
    const conflicts = [{ id: rowId('Load_Balancer', name), message: 'm' }];
    const groups = auditGroups(sources({ world: bench.world, conflicts }));
    bench.removeForeignRow('Load_Balancer', UUID);
    return groups.flatMap(({ invariant, cause, findings }) => findings.map(({ next }) => `${invariant} ${cause}: ${next}`));
  };
  for (const name of ['cluster-tcp-loadbalancer', 'cluster-udp-session-loadbalancer', 'vpc-blue-sctp-sess-load'])
    assert.deepEqual(found(name, {}), [`I3 a row of Kube-OVN has no keys of its vendor: ovn-nbctl list Load_Balancer ${name}`]);
  const others = ['I6 a row of another program has the name that an object needs: kiln neighbours'];
  assert.deepEqual(found('cluster-tcp-loadbalancer', { 'k8s.ovn.org/kind': 'Service' }), others);
  assert.deepEqual(found('web', {}), others);
});
