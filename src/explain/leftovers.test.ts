/** Of leftovers that serve no object: which a command is offered for that removes them, and which something uses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../testing/pod-scene.ts';
import { leftoverGroups } from './leftovers.ts';

const VENDOR = { vendor: 'kube-ovn' };
const uuid = (at: number): string => `70000000-0000-4000-8000-${at.toString().padStart(12, '0')}`;
const [SWITCH, ROUTER, FIRST, SECOND, THIRD] = [uuid(1), uuid(2), uuid(3), uuid(4), uuid(5)];
const IN_SWITCH = { table: 'Logical_Switch', uuid: SWITCH, column: 'ports' };
const IN_ROUTER = { table: 'Logical_Router', uuid: ROUTER, column: 'ports' };

type Row = readonly [table: string, uuid: string, columns: Readonly<Record<string, unknown>>, parent?: typeof IN_SWITCH];

const OLD_SWITCH: Row = ['Logical_Switch', SWITCH, { name: 'old', external_ids: VENDOR }];
const OLD_ROUTER: Row = ['Logical_Router', ROUTER, { name: 'old-vpc', external_ids: VENDOR }];
const port = (at: string, name: string, more: object = {}): Row => [
  'Logical_Switch_Port',
  at,
  { name, external_ids: VENDOR, ...more },
  IN_SWITCH,
];
const ROUTER_SIDE: Row = ['Logical_Router_Port', THIRD, { name: 'old-vpc-old', external_ids: VENDOR }, IN_ROUTER];
const SWITCH_SIDE = port(SECOND, 'old-old-vpc', { type: 'router', options: { 'router-port': 'old-vpc-old' } });
const SET: Row = ['Address_Set', FIRST, { name: 'old_set', external_ids: VENDOR }];
const DHCP: Row = ['DHCP_Options', THIRD, { cidr: '10.9.0.0/24', external_ids: { ...VENDOR, ls: 'old', protocol: 'IPv4' } }];

/** The rows of a case, and for the last of them whether its removal may be offered. */
const CASES: readonly (readonly [what: string, removable: boolean, rows: readonly Row[]])[] = [
  ['an empty switch', true, [OLD_SWITCH]],
  ['a switch with a port', false, [port(FIRST, 'a.gone'), OLD_SWITCH]],
  ['a router with a port', false, [ROUTER_SIDE, OLD_ROUTER]],
  ['a port of nothing that exists', true, [OLD_SWITCH, port(FIRST, 'a.gone')]],
  ['a port to a router, and another port', false, [OLD_SWITCH, port(FIRST, 'a.gone'), SWITCH_SIDE]],
  ['a port to a router, alone', true, [OLD_SWITCH, SWITCH_SIDE]],
  ['a port of a router that a switch is at', false, [OLD_SWITCH, OLD_ROUTER, SWITCH_SIDE, ROUTER_SIDE]],
  ['a port of a router without a switch', true, [OLD_ROUTER, ROUTER_SIDE]],
  ['an address set that no match names', true, [SET]],
  [
    'an address set of a rule',
    false,
    [
      OLD_SWITCH,
      [
        'ACL',
        SECOND,
        { direction: 'to-lport', priority: 1, match: 'ip4.src == $old_set', action: 'allow' },
        { ...IN_SWITCH, column: 'acls' },
      ],
      SET,
    ],
  ],
  ['DHCP options that no port has', true, [DHCP]],
  ['DHCP options of a port', false, [OLD_SWITCH, port(FIRST, 'a.gone', { dhcpv4_options: THIRD }), DHCP]],
];

test('no command is offered that removes a leftover which something uses', () => {
  for (const [what, removable, rows] of CASES) {
    const scene = new PodScene();
    const { bench } = scene;
    scene.pod('web');
    bench.converge();
    // Parents come before their children in the database, whichever the case is about.
    const of = rows.at(-1)?.[1];
    for (const [table, id, columns, parent] of rows.toSorted((a, b) => Number(a[3] !== undefined) - Number(b[3] !== undefined)))
      bench.foreignRow(table, id, columns, parent);
    const left = leftoverGroups(bench.world, bench.desired.rows).flatMap((group) => group.rows);
    const row = left.find((one) => one.uuid === of);
    assert.ok(row !== undefined, `${what}: it is not among ${left.map(({ table, name }) => `${table} ${name}`).join(', ')}`);
    assert.equal(row.remove !== undefined, removable, `${what}: ${row.remove ?? 'no command'}`);
  }
});
