/**
 * What Kiln sets for the whole database: only in its own, or where the setting demands it; with a record; never over another program's
 * value.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../explain/status.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import { NETWORK_RULES } from '../testing/network-rules.ts';

const DEFAULTS = { ls_ct_skip_dst_lport_ips: 'true', ls_dnat_mod_dl_dst: 'true', use_ct_inv_match: 'false' };
const RECORDS = Object.fromEntries(Object.entries(DEFAULTS).map(([key, value]) => [`kiln.io/set.options.${key}`, value]));
const NEUTRON = '6c0f1b0e-6a2f-4b7e-9d5b-0d2f8d8f7a11';

function options(bench: RuleBench): Readonly<Record<string, string>> {
  return bench.map('NB_Global', '', 'options');
}

function records(bench: RuleBench): Readonly<Record<string, string>> {
  const all = Object.entries(bench.externalIds('NB_Global', ''));
  return Object.fromEntries(all.filter(([key]) => key.startsWith('kiln.io/set.options.')));
}

/** As another program with `ovn-nbctl set` and `remove`. */
function write(bench: RuleBench, set: Readonly<Record<string, string>>, remove: readonly string[] = []): void {
  const uuid = '00000000-0000-4000-8000-000000000001' as never;
  bench.world.rows.apply(
    bench.northbound,
    bench.northbound.apply([{ kind: 'keys', table: 'NB_Global', uuid, column: 'options', set, remove }]),
  );
  bench.converge();
}

function started(setting?: 'always' | 'never' | 'unshared', prepare: (bench: RuleBench) => void = () => undefined): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES, ...(setting !== undefined && { settings: { globalOptions: setting } }) });
  prepare(bench);
  bench.converge();
  return bench;
}

const withNeutron = (bench: RuleBench): void =>
  bench.foreignRow('Logical_Switch', NEUTRON, { name: 'neutron-web', external_ids: { 'neutron:network_name': 'web' } });
const kept = (bench: RuleBench): readonly string[] =>
  bench.events.filter(({ reason }) => reason === 'GlobalOptionKept').map(({ object, message }) => `${object}: ${message}`);
const findings = (bench: RuleBench): readonly string[] =>
  statusOf(bench.world, true)
    .findings.filter(({ what }) => what === 'without effect')
    .map(({ message, next }) => `${message} | ${next}`);

test('in a database of its own Kiln sets what Kube-OVN sets, and records it', () => {
  const bench = started();
  assert.deepEqual(options(bench), DEFAULTS);
  assert.deepEqual(records(bench), RECORDS);
});

test('beside a switch or a router of another program it sets nothing, whatever the order in which they came', () => {
  const both = started('unshared', withNeutron);
  assert.deepEqual([options(both), records(both)], [{}, {}]);
  for (const [table, externalIds] of [
    ['Logical_Router', { 'k8s.ovn.org/network': 'default' }],
    ['Logical_Switch', {}],
  ] as const) {
    const later = started();
    write(later, { mac_prefix: '0a:00:00' });
    later.foreignRow(table, NEUTRON, { name: 'theirs', external_ids: externalIds });
    later.converge();
    assert.deepEqual([options(later), records(later)], [{ mac_prefix: '0a:00:00' }, {}]);
    later.removeForeignRow(table, NEUTRON);
    later.converge();
    assert.deepEqual([options(later), records(later)], [{ ...DEFAULTS, mac_prefix: '0a:00:00' }, RECORDS]);
  }
});

test('a switch of Kube-OVN, and one of ours that lost its keys, do not make the database shared', () => {
  const bench = started('unshared', (fresh) =>
    fresh.foreignRow('Logical_Switch', NEUTRON, { name: 'old', external_ids: { vendor: 'kube-ovn' } }),
  );
  assert.deepEqual(options(bench), DEFAULTS);
  const [uuid] = [...bench.northbound.table('Logical_Switch')].find(([, { name }]) => name === 'join') ?? [];
  const keys = ['vendor', 'kiln.io/owner', 'kiln.io/uid'];
  const batch = bench.northbound.apply([
    { kind: 'keys', table: 'Logical_Switch', uuid: uuid as never, column: 'external_ids', set: {}, remove: keys },
  ]);
  bench.world.rows.apply(bench.northbound, batch);
  assert.equal(bench.world.rows.foreignNetworks.exist, false);
});

test('always: also beside others; never: not even alone', () => {
  const always = started('always', withNeutron);
  assert.deepEqual([options(always), records(always)], [DEFAULTS, RECORDS]);
  const never = started('never');
  assert.deepEqual([options(never), records(never)], [{}, {}]);
});

test("another program's value stays, whether it came before or after, and is reported", () => {
  const text = 'NB_Global option use_ct_inv_match is "true", which another program set; Kiln would set "false" and leaves it as it is';
  const remove = 'ovn-nbctl remove NB_Global . options use_ct_inv_match';
  for (const setting of ['always', 'unshared'] as const) {
    const before = started(setting, (bench) => write(bench, { use_ct_inv_match: 'true', mac_prefix: '0a:00:00' }));
    const after = started(setting);
    write(after, { use_ct_inv_match: 'true', mac_prefix: '0a:00:00' });
    for (const bench of [before, after, after.restarted()]) {
      bench.converge();
      assert.deepEqual(options(bench), { ...DEFAULTS, use_ct_inv_match: 'true', mac_prefix: '0a:00:00' });
      assert.equal(
        'kiln.io/set.options.use_ct_inv_match' in records(bench),
        false,
        'what was set is forgotten: it is not taken back later',
      );
      assert.deepEqual(kept(bench), [`vpcs/ovn-cluster: ${text}; to have Kiln set it: ${remove}`]);
      assert.deepEqual(findings(bench), setting === 'always' ? [`--global-options=always: ${text} | ${remove}`] : []);
    }
    // The command in the message.
    write(after, {}, ['use_ct_inv_match']);
    assert.deepEqual([options(after), records(after)], [{ ...DEFAULTS, mac_prefix: '0a:00:00' }, RECORDS]);
    assert.deepEqual(findings(after), []);
  }
});

test('an equal value of another program is not claimed', () => {
  const bench = started('unshared', (fresh) => write(fresh, { ls_dnat_mod_dl_dst: 'true' }));
  withNeutron(bench);
  bench.converge();
  assert.deepEqual(options(bench), { ls_dnat_mod_dl_dst: 'true' });
  assert.deepEqual(kept(bench), []);
});

test('another setting changes what Kiln set, after a restart too, and takes it back', () => {
  const first = started();
  const other = new RuleBench({ rules: NETWORK_RULES, after: first, settings: { lsDnatModDlDst: false } });
  other.converge();
  assert.deepEqual(options(other), { ...DEFAULTS, ls_dnat_mod_dl_dst: 'false' });
  const off = new RuleBench({ rules: NETWORK_RULES, after: other, settings: { globalOptions: 'never' } });
  off.converge();
  assert.deepEqual([options(off), records(off)], [{}, {}]);
});

test('what another program writes at the same moment stays', () => {
  const bench = started('never');
  const uuid = '00000000-0000-4000-8000-000000000001' as never;
  const pairs = (set: Readonly<Record<string, string>>, remove: Readonly<Record<string, string>>): void => {
    const edits = [{ kind: 'pairs', table: 'NB_Global', uuid, column: 'options', set, remove } as const];
    bench.world.rows.apply(bench.northbound, bench.northbound.apply(edits));
  };
  write(bench, { use_ct_inv_match: 'true' });
  pairs({ use_ct_inv_match: 'false' }, {});
  assert.deepEqual(options(bench), { use_ct_inv_match: 'true' }, 'planned while the key was absent');
  pairs({}, { use_ct_inv_match: 'false' });
  assert.deepEqual(options(bench), { use_ct_inv_match: 'true' }, 'planned while the value was ours');
});

const VERSION = 'kube-ovn-version';
const version = (bench: RuleBench): string | undefined => bench.externalIds('NB_Global', '')[VERSION];

test('the release of the layout is named where options are set, with a record, and taken back with them', () => {
  const bench = started();
  assert.equal(version(bench), 'v1.17.0');
  assert.equal(bench.externalIds('NB_Global', '')['kiln.io/set.external_ids.kube-ovn-version'], 'v1.17.0');
  withNeutron(bench);
  bench.converge();
  assert.equal(version(bench), undefined);
  assert.equal(version(started('unshared', withNeutron)), undefined);
  assert.equal(version(started('always', withNeutron)), 'v1.17.0');
  assert.equal(version(started('never')), undefined);
});

for (const [table, name, externalIds] of [
  ['Load_Balancer', 'vpc-gone-tcp-load', {}],
  ['Address_Set', 'deny.shop.ingress.allow.IPv4.0', { np: 'shop/deny/ingress' }],
  ['Port_Group', 'ovn.sg.gone', { type: 'security_group', sg: 'gone' }],
] as const)
  test(`no release is named while a ${table} of Kube-OVN has no vendor key, whose migration would else not run`, () => {
    const bench = started('unshared', (made) => made.foreignRow(table, NEUTRON, { name, external_ids: externalIds }));
    assert.deepEqual([version(bench), options(bench)], [undefined, DEFAULTS]);
    bench.world.rows.apply(bench.northbound, bench.northbound.apply([{ kind: 'delete', table, uuid: NEUTRON as never }]));
    bench.converge();
    assert.equal(version(bench), 'v1.17.0');
  });

test('rows of other programs with such names, and keys of theirs, do not count', () => {
  const external_ids = { 'neutron:lb': 'x' };
  const bench = started('always', (made) => made.foreignRow('Load_Balancer', NEUTRON, { name: 'vpc-a-tcp-load', external_ids }));
  assert.equal(version(bench), 'v1.17.0');
});
