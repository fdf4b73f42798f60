/** What a cleanup takes of Open vSwitch beside the agent's own rows, in a real database: what it leaves says why, and a dry run says the same before. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { insertNamed, mutateInsert, type Operation, OvsdbSession, type Row } from '../../ovsdb/index.ts';
import { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { until } from '../../testing/until.ts';
import { systemClock } from '../../timing/clock.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Ran } from '../kernel/ran.ts';
import { VSWITCH_TABLES } from '../vswitch/vswitch-target.ts';
import { cleanUp } from './cleanup.ts';

const SCHEMA = '/usr/share/openvswitch/vswitch.ovsschema';
const skip = !existsSync(SCHEMA) && 'Open vSwitch is not installed';

let server: OvsdbServerProcess;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-cleanup-'));
  if (skip === false) server = await OvsdbServerProcess.start({ schemaFile: SCHEMA });
});
after(async () => {
  if (skip === false) await server.stop();
  await rm(folder, { recursive: true });
});

interface NodeLink {
  readonly ifname: string;
  readonly kind: string;
}

/** A node of which the links alone are known. */
class CleanedNode {
  readonly session = new OvsdbSession({ endpoints: [server.unix], database: 'Open_vSwitch', tables: VSWITCH_TABLES });
  links: readonly NodeLink[] = [];
  /** Of the last cleanup: what was removed, and what stays. */
  lines: string[] = [];

  static of(t: TestContext): CleanedNode {
    const node = new CleanedNode();
    t.after(() => node.session.close());
    return node;
  }

  async start(settings: Readonly<Record<string, string>>): Promise<void> {
    this.session.start();
    await this.session.untilSynced();
    const { replica } = this.session;
    const [row] = replica.table('Open_vSwitch').values();
    if (row !== undefined) await this.change([{ op: 'delete', table: 'Open_vSwitch', where: [] } as never]);
    const externalIds = new Map(Object.entries(settings));
    await this.change([{ op: 'insert', table: 'Open_vSwitch', row: { external_ids: externalIds } } as never]);
  }

  async change(operations: readonly Operation[]): Promise<void> {
    const outcome = await this.session.transact(operations);
    assert.ok(outcome.ok, outcome.ok ? '' : outcome.error.message);
  }

  /** @param ports names with keys of each, beside the bridge's own */
  async bridge(
    name: string,
    externalIds: Readonly<Record<string, string>>,
    ports: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
  ): Promise<void> {
    const [row] = this.session.replica.table('Open_vSwitch').values() as Iterable<Row>;
    assert.ok(row);
    const all = Object.entries({ [name]: {}, ...ports });
    await this.change([
      ...all.map(([one], at) => insertNamed('Interface', { name: one, type: one === name ? 'internal' : '' }, `i${at}`)),
      ...all.map(([one, ids], at) => insertNamed('Port', { name: one, interfaces: [`i${at}`], external_ids: ids }, `p${at}`)),
      insertNamed('Bridge', { name, external_ids: externalIds, ports: all.map((_, at) => `p${at}`) }, 'b'),
      mutateInsert('Open_vSwitch', row._uuid, 'bridges', ['b']),
    ]);
  }

  async clean(dryRun: boolean): Promise<string> {
    this.lines = [];
    await cleanUp({
      ...{ vswitch: server.unix, ovnRun: folder, gatewayNamespace: 'ovnext', clock: systemClock, dryRun },
      places: { binaries: folder, configurations: folder, priority: '01', socket: join(folder, 'none') },
      programs: this.#programs(),
      done: ({ what }) => void this.lines.push(`removed ${what}`),
      kept: ({ what, why }) => void this.lines.push(`stays ${what}: ${why}`),
      failed: (what, reason) => void this.lines.push(`left ${what}: ${reason}`),
    });
    return this.lines.join('\n');
  }

  bridges(): string {
    return Array.from(this.session.replica.table('Bridge').values(), ({ name }) => String(name))
      .toSorted()
      .join();
  }

  ports(): string {
    return Array.from(this.session.replica.table('Port').values(), ({ name }) => String(name))
      .toSorted()
      .join();
  }

  #programs(): Programs {
    const run = (command: readonly string[], input = ''): Ran => {
      const text = command.join(' ');
      if (text.startsWith('ip link delete dev ')) {
        this.links = this.links.filter(({ ifname }) => ifname !== command.at(-1));
        return { ok: true, output: '' };
      }
      const links = JSON.stringify(this.links.map(({ ifname, kind }) => ({ ifname, linkinfo: { info_kind: kind } })));
      if (input.includes('neighbour show')) return { ok: true, output: `[]\n${links}\n` };
      if (input.includes('address show')) return { ok: true, output: `${links}\n[]\n${links}\n` };
      if (text.includes('rule') || text.includes('route')) return { ok: true, output: '[]' };
      if (command[0] === 'nsenter') return { ok: false, message: 'nsenter: cannot open /run/netns/ovnext: No such file or directory' };
      return text === 'nft list tables' ? { ok: true, output: '' } : { ok: false, message: 'No such file or directory' };
    };
    const none = (): never => assert.fail();
    return { run: (command, input) => Promise.resolve(run(command, input)), converse: none, watch: none, sleep: (ms) => setTimeout(ms) };
  }
}

const OURS = { 'ovn-remote': 'tcp:10.0.0.1:6642', 'kiln.io/before': '{"ovn-remote":null}' };

async function cleaned(node: CleanedNode): Promise<string> {
  const dry = await node.clean(true);
  const done = await node.clean(false);
  assert.equal(done, dry, 'a dry run says the same beforehand');
  return done;
}

test('br-int that ovn-controller made before the agent goes where no other OVN was on the node', { skip }, async (t) => {
  const node = CleanedNode.of(t);
  await node.start(OURS);
  await node.bridge('br-int', { 'ct-zone-web.default': '3' }, { 'ovn-abc-0': { 'ovn-chassis-id': 'abc' } });
  await node.bridge('br-theirs', {}, { 'patch-localnet.x-to-br-int': { 'ovn-localnet-port': 'localnet.x' }, eth5: {} });
  assert.equal(
    await cleaned(node),
    [
      'removed keys of Open_vSwitch: ovn-remote, kiln.io/before',
      'removed port patch-localnet.x-to-br-int of ovn-controller in bridge br-theirs',
      'removed bridge br-int',
    ].join('\n'),
  );
  await until('theirs is left', () => Promise.resolve(node.ports() === 'br-theirs,eth5'));
});

test('br-int of another OVN, of another program, or with a port of another program stays, and why is said', { skip }, async (t) => {
  for (const [settings, ids, ports, said] of [
    [
      { ...OURS, 'kiln.io/before': '{"ovn-remote":"tcp:10.9.9.9:6642"}' },
      {},
      {},
      /^stays bridge br-int: it was there before the agent, for the OVN at tcp:10\.9\.9\.9:6642; .* ovs-vsctl del-br br-int$/m,
    ],
    [OURS, { owner: 'x' }, {}, /^stays bridge br-int: another program made it \(external_ids:owner\); ovs-vsctl list bridge br-int$/m],
    [
      OURS,
      { vendor: 'kube-ovn' },
      { tap1: {}, 'ovn-abc-0': { 'ovn-chassis-id': 'abc' } },
      /^removed port ovn-abc-0 of ovn-controller in bridge br-int\nleft bridge br-int: port tap1 of another program is in it; ovs-vsctl list port tap1/m,
    ],
  ] as const) {
    const node = CleanedNode.of(t);
    await node.start(settings);
    await node.bridge('br-int', ids, ports);
    assert.match(await cleaned(node), said);
    assert.equal(node.bridges(), 'br-int');
  }
});

test('ovn-controller that runs makes br-int again: it is told, before and after', { skip }, async (t) => {
  const control = createServer((socket) => socket.destroy());
  t.after(() => control.close());
  await new Promise<void>((resolve) => void control.listen(join(folder, 'ovn-controller.77.ctl'), resolve));
  const node = CleanedNode.of(t);
  await node.start(OURS);
  await node.bridge('br-int', { vendor: 'kube-ovn' });
  let made = 0;
  node.session.onChanges((batch) => {
    if (batch.some(({ table, kind }) => table === 'Bridge' && kind === 'delete') && made++ === 0) void node.bridge('br-int', {});
  });
  const runs = /^left bridge br-int: ovn-controller runs, and makes it again: stop it .*kiln agent cleanup again$/m;
  assert.match(await node.clean(true), runs);
  assert.equal(made, 0);
  assert.match(await node.clean(false), /^removed bridge br-int$/m);
  assert.match(node.lines.join('\n'), runs);
  await new Promise((resolve) => control.close(resolve));
  await until('it is seen', () => Promise.resolve(node.bridges() === 'br-int'));
  assert.match(await node.clean(false), /^removed bridge br-int$/m);
  await until('it is gone', () => Promise.resolve(node.bridges() === ''));
});

test(
  'devices of an ovs-vswitchd that does not run go, but for those of the kernel, of which the next command is said',
  { skip },
  async (t) => {
    const all = [
      ...['br-int', 'ovs-netdev', 'ovn0', 'tap-vpn', 'br-theirs'].map((ifname) => ({ ifname, kind: 'tun' })),
      { ifname: 'genev_sys_6081', kind: 'geneve' },
      { ifname: 'mirror0', kind: 'openvswitch' },
      { ifname: 'eth0', kind: '' },
    ];
    for (const [bridge, left] of [
      [undefined, 'tap-vpn,br-theirs,mirror0,eth0'],
      // What bridges share may be in use by that of another program.
      ['br-theirs', 'ovs-netdev,tap-vpn,br-theirs,genev_sys_6081,mirror0,eth0'],
    ] as const) {
      const node = CleanedNode.of(t);
      await node.start(OURS);
      await node.bridge('br-int', { vendor: 'kube-ovn' });
      if (bridge !== undefined) await node.bridge(bridge, {});
      node.links = all;
      const said = await cleaned(node);
      assert.match(said, /^removed device br-int, which ovs-vswitchd would remove if it ran$/m);
      assert.match(
        said,
        /^left device mirror0: ovs-vswitchd does not run, and the kernel's Open vSwitch keeps it: start ovs-vswitchd, .*ovs-dpctl del-dp/m,
      );
      assert.equal(node.links.map(({ ifname }) => ifname).join(), left);
    }
  },
);

test('devices stay where ovs-vswitchd runs: it removes them itself', { skip }, async (t) => {
  const node = CleanedNode.of(t);
  await node.start(OURS);
  await node.bridge('br-int', { vendor: 'kube-ovn' });
  node.links = [{ ifname: 'br-int', kind: 'tun' }];
  const { RpcConnection } = await import('../../ovsdb/rpc.ts');
  const { dial } = await import('../../ovsdb/transport.ts');
  const { parseEndpoint } = await import('../../ovsdb/endpoint.ts');
  const { OvsdbError } = await import('../../ovsdb/errors.ts');
  const held = await new Promise<{ readonly end: () => void }>((resolve, reject) => {
    dial(
      parseEndpoint(server.unix),
      undefined,
      2_000,
      systemClock,
      (wire) => {
        const options = {
          clock: systemClock,
          probeIntervalMs: 5_000,
          maxMessageBytes: 1 << 20,
          onNotification: () => {},
          onClosed: () => {},
        };
        const connection = new RpcConnection(wire, options);
        connection.call('lock', ['ovs_vswitchd'], () =>
          resolve({ end: () => connection.close(new OvsdbError('OVSDB_DISCONNECTED', 'over')) }),
        );
      },
      reject,
    );
  });
  assert.doesNotMatch(await node.clean(false), /device/);
  assert.equal(node.links.length, 1);
  held.end();
  await until('it is free', async () => /^removed device br-int/m.test(await node.clean(false)));
});
