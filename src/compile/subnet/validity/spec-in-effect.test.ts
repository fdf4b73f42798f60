import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { OWNER_KEY, ownerText, UID_KEY } from '../../../nb/ownership.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { tableOf } from '../../../nb/row-id.ts';
import type { InputRow, Uuid } from '../../../ovsdb/index.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const DUAL = '10.70.0.0/24,fd00:70::/112';

const SUBNETS: Readonly<Record<string, object>> = {
  'of a Vpc': {
    vpc: 'z1',
    enableDHCP: true,
    dhcpV4Options: 'lease_time=77',
    private: true,
    allowSubnets: ['10.71.0.0/24'],
    enableIPv6RA: true,
  },
  'of the default Vpc': { gatewayType: 'distributed', acls: [{ direction: 'to-lport', priority: 1500, match: 'ip4', action: 'drop' }] },
  'with a centralized gateway': { gatewayType: 'centralized', gatewayNode: 'n1', mtu: 1300 },
};

const REFUSED: Readonly<Record<string, object>> = {
  'its CIDR cannot be read': { cidrBlock: '10.70.0.0/240' },
  'its CIDR is that of another Subnet': { cidrBlock: '10.72.0.0/24' },
  'its gateway is outside': { gateway: '10.99.0.1' },
  'its Vpc is another one': { vpc: 'z2' },
};

function scene(spec: object): PodScene {
  const made = new PodScene();
  for (const vpc of ['z1', 'z2']) made.bench.put('vpcs', { metadata: { name: vpc }, spec: {} });
  for (const vpc of ['z1', '']) made.subnet(`other${vpc}`, { ...(vpc !== '' && { vpc }), cidrBlock: '10.72.0.0/24' });
  const ready = { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }], conditions: [{ type: 'Ready', status: 'True' }] };
  made.bench.put('nodes', { metadata: { name: 'n1' }, spec: {}, status: ready });
  made.subnet('net', { cidrBlock: DUAL, ...spec });
  made.bench.converge();
  return made;
}

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The rows of the Subnet, by identity. */
function rowsOf({ bench }: PodScene): Rows {
  const { uid } = bench.object('subnets', 'net')?.metadata ?? assert.fail();
  const owner = ownerText({ kind: 'subnet', namespace: '', name: 'net', uid });
  return Object.fromEntries([...bench.world.rows.ownedBy(owner)].toSorted().map((id) => [id, { ...bench.world.rows.best(id)?.row }]));
}

/** Without the UUIDs of rows, and of those that they refer to. */
function contentsOf(rows: Rows): readonly string[] {
  return Object.entries(rows).map(
    ([id, row]) => `${id} ${inspect(row, { depth: 5, sorted: true }).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '')}`,
  );
}

/** Edits with ovn-nbctl, by table: no column of the identity. */
const BY_HAND: Readonly<Record<string, InputRow>> = {
  Logical_Switch: { other_config: { mcast_snoop: 'true' } },
  Logical_Switch_Port: { options: { 'router-port': 'nowhere' }, addresses: ['unknown'] },
  Logical_Router_Port: { mac: '0a:00:00:00:00:99', networks: ['10.70.0.77/25'], options: { route_table: 'by-hand' } },
  Logical_Router_Policy: { action: 'drop', nexthops: [] },
  Logical_Router_Static_Route: { output_port: 'nowhere' },
  ACL: { action: 'reject', log: true },
  DHCP_Options: { options: { router: '10.70.0.9' } },
  Port_Group: {},
};

/** Edits of a column of the identity. */
const NAMES: Readonly<Record<string, InputRow>> = {
  Logical_Router_Port: { name: 'renamed' },
  Logical_Router_Policy: { match: 'ip4.dst == 10.70.0.0/26' },
  Logical_Router_Static_Route: { nexthop: '10.70.0.99' },
  ACL: { priority: 77 },
  DHCP_Options: { external_ids: { ls: 'by-hand' } },
  Port_Group: { name: 'renamed' },
};

function write({ bench }: PodScene, row: Readonly<Record<string, unknown>>, table: string, change: InputRow): void {
  const external_ids = {
    ...Object.fromEntries(row['external_ids'] as ReadonlyMap<string, string>),
    ...(change['external_ids'] as Readonly<Record<string, string>> | undefined),
  };
  const uuid = row['_uuid'] as Uuid;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'update', table, uuid, row: { ...change, external_ids } }]));
}

function changeAll(made: PodScene): void {
  for (const [id, row] of Object.entries(rowsOf(made))) {
    const table = tableOf(id as RowId);
    const change = BY_HAND[table] ?? assert.fail(`no edit of a ${table}`);
    // The identity of DHCP options has the name of the switch.
    write(made, row, table, { ...change, external_ids: { note: 'mine', ...(table !== 'DHCP_Options' && { ls: 'by-hand' }) } });
  }
}

for (const [kind, spec] of Object.entries(SUBNETS))
  for (const [why, edit] of Object.entries(REFUSED)) {
    if ('vpc' in edit && !('vpc' in spec)) continue;
    test(`the rows of a Subnet ${kind} are repaired to the last written contents while ${why}`, () => {
      const made = scene(spec);
      const before = rowsOf(made);
      assert.ok(Object.keys(before).length > 5);
      made.bench.edit('subnets', 'net', edit);
      made.bench.converge();
      assert.equal(made.bench.condition('subnets', 'net', 'Accepted')?.status, 'False');
      assert.deepEqual(rowsOf(made), before);
      const contents = contentsOf(before);
      changeAll(made);
      assert.notDeepEqual(contentsOf(rowsOf(made)), contents);
      made.bench.converge();
      assert.deepEqual(contentsOf(rowsOf(made)), contents);
      for (const [id, row] of Object.entries(before)) {
        const table = tableOf(id as RowId);
        // For a Subnet whose spec names another Vpc, only the name of its router port shows the present one.
        if (NAMES[table] === undefined || (table === 'Logical_Router_Port' && 'vpc' in edit)) continue;
        write(made, row, table, NAMES[table]);
        made.bench.converge();
        // A row under another identity is deleted, and the missing one is created.
        assert.deepEqual(contentsOf(rowsOf(made)), contents, id);
      }
      // Also if no controller was leading when it was changed.
      const restored = rowsOf(made);
      changeAll(made);
      const fresh = made.bench.restarted();
      fresh.converge();
      for (const [id, row] of Object.entries(restored)) assert.deepEqual({ ...fresh.world.rows.best(id as RowId)?.row }, row);
    });
  }

type IsTaken = (key: string) => boolean;

const OWNER_KEYS: readonly string[] = [OWNER_KEY, UID_KEY];
const TAKEN: Readonly<Record<'ownership keys' | 'all', IsTaken>> = {
  'ownership keys': (key) => OWNER_KEYS.includes(key),
  all: () => true,
};

function removeOwnershipKeys({ bench }: PodScene, row: Readonly<Record<string, unknown>>, table: string, isTaken: IsTaken): void {
  const left = [...(row['external_ids'] as ReadonlyMap<string, string>)].filter(([key]) => !isTaken(key));
  const change = { kind: 'update', table, uuid: row['_uuid'] as Uuid, row: { external_ids: Object.fromEntries(left) } } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([change]));
}

for (const [kind, spec] of Object.entries(SUBNETS))
  for (const [why, edit] of Object.entries(REFUSED)) {
    if ('vpc' in edit && !('vpc' in spec)) continue;
    test(`rows of a Subnet ${kind} that lose their ownership keys while ${why} get them again, and no other row is deleted`, () => {
      const made = scene(spec);
      made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'net' } });
      made.bench.converge();
      const [before, port] = [rowsOf(made), made.bench.row('Logical_Switch_Port', 'web.shop')];
      assert.equal(made.bench.externalIds('Logical_Switch_Port', 'web.shop')['ls'], 'net');
      if ('enableDHCP' in spec) assert.match(String(port?.['dhcpv4_options']), /^DHCP_Options/);
      made.bench.edit('subnets', 'net', edit);
      made.bench.converge();
      for (const [what, isTaken] of Object.entries(TAKEN))
        for (const [id, row] of Object.entries(before)) {
          const table = tableOf(id as RowId);
          // DHCP options without any keys are foreign; and only the name of the router port shows the Vpc of such a Subnet.
          if ((table === 'DHCP_Options' && what === 'all') || (table === 'Logical_Router_Port' && 'vpc' in edit)) continue;
          const { writes } = made.bench;
          removeOwnershipKeys(made, row, table, isTaken);
          made.bench.converge();
          assert.deepEqual([rowsOf(made), made.bench.row('Logical_Switch_Port', 'web.shop')], [before, port], `${id}: ${what}`);
          // No other write happened.
          if (what !== 'all') assert.equal(made.bench.writes - writes, 1, id);
        }
      const again = made.bench.restarted();
      again.converge();
      assert.equal(again.writes, 0);
    });
  }

test('rows that were taken over from a Subnet removed by force are recognised by their names', () => {
  const spec = SUBNETS['of a Vpc'] ?? {};
  const made = scene(spec);
  made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'net' } });
  made.bench.converge();
  made.bench.removeByForce('subnets', 'net');
  made.bench.converge();
  made.subnet('net', { cidrBlock: DUAL, ...spec });
  made.bench.converge();
  made.bench.edit('subnets', 'net', { cidrBlock: '10.70.0.0/240' });
  made.bench.converge();
  const [before, port] = [rowsOf(made), made.bench.row('Logical_Switch_Port', 'web.shop')];
  const named = Object.entries(before).filter(([id]) => /^(Logical_Switch|DHCP_Options)\//.test(id));
  assert.equal(named.length, 3);
  for (const [id, row] of named) {
    removeOwnershipKeys(made, row, tableOf(id as RowId), TAKEN['ownership keys']);
    made.bench.converge();
    assert.deepEqual([rowsOf(made), made.bench.row('Logical_Switch_Port', 'web.shop')], [before, port], id);
  }
});

test('a row with keys of another program is foreign, whatever it was before', () => {
  const made = scene(SUBNETS['of a Vpc'] ?? {});
  made.bench.edit('subnets', 'net', { cidrBlock: '10.70.0.0/240' });
  made.bench.converge();
  const [id, row] = Object.entries(rowsOf(made)).find(([one]) => tableOf(one as RowId) === 'Logical_Router_Port') ?? assert.fail();
  const external_ids = { 'neutron:router_name': 'theirs' };
  const change = { kind: 'update', table: 'Logical_Router_Port', uuid: row['_uuid'] as Uuid, row: { external_ids } } as const;
  made.bench.world.rows.apply(made.bench.northbound, made.bench.northbound.apply([change]));
  made.bench.converge();
  assert.deepEqual(made.bench.externalIds('Logical_Router_Port', id.slice(id.indexOf('/') + 1)), external_ids);
});

function lease(made: PodScene): string | undefined {
  const rows = Object.values(rowsOf(made)).filter((row) => 'cidr' in row && row['cidr'] === '10.70.0.0/24');
  return (rows[0]?.['options'] as ReadonlyMap<string, string> | undefined)?.get('lease_time');
}

function setLease(made: PodScene, time: string): void {
  const row = Object.values(rowsOf(made)).find(({ cidr }) => cidr === '10.70.0.0/24') ?? assert.fail();
  const options = { ...Object.fromEntries(row['options'] as ReadonlyMap<string, string>), lease_time: time };
  write(made, row, 'DHCP_Options', { options });
  made.bench.converge();
}

const ACCEPTED = 'kiln.io/accepted-spec';

function annotationOf({ bench }: PodScene): string | undefined {
  return bench.object('subnets', 'net')?.metadata.annotations?.[ACCEPTED];
}

function annotate({ bench }: PodScene, text: string | undefined): void {
  const subnet = bench.object('subnets', 'net') ?? assert.fail();
  const { [ACCEPTED]: _before, ...others } = subnet.metadata.annotations ?? {};
  bench.put('subnets', {
    ...subnet,
    metadata: { ...subnet.metadata, annotations: { ...others, ...(text !== undefined && { [ACCEPTED]: text }) } },
  });
  bench.converge();
}

test('a field that is edited together with an invalid one keeps its accepted value, also for repairs, until the spec is accepted', () => {
  const made = scene(SUBNETS['of a Vpc'] ?? {});
  assert.equal(lease(made), '77');
  made.bench.edit('subnets', 'net', { gateway: '10.99.0.1', dhcpV4Options: 'lease_time=99' });
  made.bench.converge();
  assert.equal(lease(made), '77', 'an invalid spec has no effect');
  setLease(made, '88');
  assert.equal(lease(made), '77');
  made.bench.edit('subnets', 'net', { gateway: '', dhcpV4Options: 'lease_time=99' });
  made.bench.converge();
  assert.equal(lease(made), '99');
});

test('the annotation has the accepted spec with its defaults, is written with these, and comes back when a client removes it', () => {
  const made = scene(SUBNETS['of a Vpc'] ?? {});
  const { uid = '' } = made.bench.object('subnets', 'net')?.metadata ?? {};
  const { spec } = JSON.parse(annotationOf(made) ?? '') as { readonly spec: object };
  assert.deepEqual(spec, made.bench.object('subnets', 'net')?.spec);
  const before = annotationOf(made);
  annotate(made, undefined);
  assert.equal(annotationOf(made), before);
  annotate(made, JSON.stringify({ uid, spec: { cidrBlock: '10.99.0.0/24' } }));
  assert.equal(annotationOf(made), before, 'a forged one is replaced');
  made.bench.edit('subnets', 'net', { cidrBlock: '10.70.0.0/240' });
  made.bench.converge();
  assert.equal(annotationOf(made), before, 'a refused spec is not kept');
  assert.equal(made.bench.writesAfterRestart(), 0);
});

test('rows that are missing come back while the spec is refused', () => {
  for (const table of ['Logical_Router_Port', 'Logical_Router_Policy', 'DHCP_Options', 'ACL']) {
    const made = scene(SUBNETS['of a Vpc'] ?? {});
    made.bench.edit('subnets', 'net', { gateway: '10.99.0.1' });
    made.bench.converge();
    const rows = rowsOf(made);
    const before = contentsOf(rows);
    const [, row] = Object.entries(rows).find(([id]) => tableOf(id as RowId) === table) ?? assert.fail(table);
    made.bench.removeForeignRow(table, row['_uuid'] as Uuid);
    made.bench.converge();
    assert.deepEqual(contentsOf(rowsOf(made)), before, table);
  }
});

/** What a client may write into the annotation, or leave of it. */
const UNUSABLE: Readonly<Record<string, (uid: string, spec: object) => string | undefined>> = {
  'is missing': () => undefined,
  'is no JSON': () => '{',
  'has the uid of another object': (_uid, spec) => JSON.stringify({ uid: 'other', spec }),
  'has another type in a field': (uid, spec) => JSON.stringify({ uid, spec: { ...spec, acls: 'all', namespaces: [1] } }),
  'has an invalid spec': (uid, spec) => JSON.stringify({ uid, spec: { ...spec, cidrBlock: '10.70.0.0/240' } }),
  'has another Vpc': (uid, spec) => JSON.stringify({ uid, spec: { ...spec, vpc: 'z2' } }),
};

for (const [what, forge] of Object.entries(UNUSABLE))
  test(`while the spec is refused and its annotation ${what}, the rows stay as they are`, () => {
    const made = scene(SUBNETS['of a Vpc'] ?? {});
    made.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': 'net' } });
    made.bench.converge();
    const { uid = '', spec = {} } = { ...made.bench.object('subnets', 'net')?.metadata, ...made.bench.object('subnets', 'net') };
    const accepted = annotationOf(made);
    made.bench.edit('subnets', 'net', { gateway: '10.99.0.1', dhcpV4Options: 'lease_time=99' });
    made.bench.converge();
    const [before, port] = [rowsOf(made), made.bench.row('Logical_Switch_Port', 'web.shop')];
    annotate(made, forge(uid, spec));
    assert.deepEqual([rowsOf(made), made.bench.row('Logical_Switch_Port', 'web.shop')], [before, port]);
    setLease(made, '88');
    assert.equal(lease(made), '88', 'no row shows what it was');
    annotate(made, accepted);
    assert.equal(lease(made), '77');
    annotate(made, forge(uid, spec));
    made.bench.edit('subnets', 'net', { gateway: '', dhcpV4Options: 'lease_time=99' });
    made.bench.converge();
    assert.equal(lease(made), '99');
    assert.match(annotationOf(made) ?? '', /lease_time=99/);
  });

test('a Subnet whose first spec is refused has no rows and no annotation', () => {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.70.0.0/240' });
  made.bench.converge();
  assert.equal(annotationOf(made), undefined);
  assert.deepEqual(rowsOf(made), {});
});
