/**
 * What ovs-vswitchd and ovn-controller do on a simulated node, some time after each change: internal devices follow their rows, an Interface
 * without a device has an error, and a logical port is installed on the one Interface that has it. As in the userspace datapath, an internal
 * device that another program deleted is not noticed, and not made again; nor is a queue, which it makes once for each row of QoS.
 */
import type { Uuid } from '../../../src/ovsdb/index.ts';
import type { StoredRow } from '../../../src/ovsdb/simulated/database.ts';
import type { SimulatedServer } from '../../../src/ovsdb/testing/simulated/server.ts';
import type { Random } from '../cluster/random.ts';
import type { VirtualTime } from '../cluster/virtual-time.ts';
import type { Hand, SimulatedKernel } from './kernel.ts';

const INSTALLED = 'ovn-installed';

export interface OpenVswitchOptions {
  readonly server: SimulatedServer;
  readonly kernel: SimulatedKernel;
  readonly time: VirtualTime;
  readonly random: Random;
  /** Made by whom. */
  readonly handOf: (uuid: Uuid) => Hand;
  /** Called after it changed links. */
  readonly changed: () => void;
}

export class OpenVswitch {
  readonly #options: OpenVswitchOptions;
  #scheduled = false;
  #running = true;
  /** Interfaces, by name and type, whose devices this ovs-vswitchd has opened: a row that went and came before it looks is the same to it. */
  readonly #opened = new Set<string>();
  /** The row of QoS whose queue it made last, by device. */
  readonly #queues = new Map<string, Uuid>();

  constructor(options: OpenVswitchOptions) {
    this.#options = options;
  }

  /** Rows or links have changed. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const { time, random } = this.#options;
    time.after(random.pick([1, 5, 30, 200]), () => {
      this.#scheduled = false;
      if (this.#running) this.#look();
    });
  }

  /** The node is down. */
  stop(): void {
    this.#running = false;
    this.#opened.clear();
    this.#queues.clear();
  }

  /** ovn-controller installs everything anew. */
  start(): void {
    this.#running = true;
    const { server } = this.#options;
    for (const [uuid, row] of server.database.rows('Interface')) if (keysOf(row).has(INSTALLED)) server.transact([removedKey(uuid)]);
    this.wake();
  }

  #look(): void {
    const { server, kernel, handOf, changed } = this.#options;
    const rows = [...server.database.rows('Interface')];
    const internal = new Set(rows.filter(([, row]) => row['type'] === 'internal').map(([, { name }]) => String(name)));
    for (const link of [...kernel.host.links.values()]) if (link.kind === 'internal' && !internal.has(link.name)) kernel.removeLink(link);
    const operations: unknown[] = [];
    const busy: string[] = [];
    for (const [uuid, row] of rows) {
      const name = String(row['name']);
      const isDeleted = row['type'] === 'internal' && this.#opened.has(openedAs(row)) && !kernel.host.links.has(name);
      if (row['type'] === 'internal' && !kernel.host.links.has(name) && !isDeleted)
        kernel.addLink(kernel.host, { name, by: handOf(uuid), kind: 'internal', mac: this.#macOf(name), mtu: 1500 });
      // An interface of the node has the name.
      if (row['type'] === 'internal' && !isDeleted && kernel.host.links.get(name)?.kind !== 'internal') {
        busy.push(name);
        this.#opened.delete(openedAs(row));
      }
      const error = busy.includes(name)
        ? `could not open network device ${name} (File exists)`
        : row['type'] === 'patch' || isDeleted || kernel.host.links.has(name)
          ? ''
          : `could not open network device ${name} (No such device)`;
      if ((typeof row['error'] === 'string' ? row['error'] : '') !== error)
        operations.push({ op: 'update', table: 'Interface', where: isRow(uuid), row: { error: error === '' ? ['set', []] : error } });
      if (error === '') this.#opened.add(openedAs(row));
      const port = error === '' ? 1 : -1;
      if (row['ofport'] !== port) operations.push({ op: 'update', table: 'Interface', where: isRow(uuid), row: { ofport: port } });
    }
    const present = new Set(rows.map(([, row]) => openedAs(row)));
    for (const one of this.#opened) if (!present.has(one)) this.#opened.delete(one);
    for (const [uuid, { next_cfg, cur_cfg }] of server.database.rows('Open_vSwitch'))
      if (next_cfg !== cur_cfg) operations.push({ op: 'update', table: 'Open_vSwitch', where: isRow(uuid), row: { cur_cfg: next_cfg } });
    this.#shape();
    operations.push(...this.#installed(rows));
    changed();
    if (operations.length > 0) server.transact(operations);
  }

  #macOf(name: string): string {
    const bridge = [...this.#options.server.database.rows('Bridge').values()].find((row) => row['name'] === name);
    const config = bridge?.['other_config'];
    const mac: unknown = config instanceof Map ? config.get('hwaddr') : undefined;
    return typeof mac === 'string' ? mac : '02:00:00:00:00:03';
  }

  #shape(): void {
    const { server, kernel } = this.#options;
    const types = new Map(Array.from(server.database.rows('QoS'), ([uuid, row]) => [uuid, row['type'] === 'linux-htb' ? 'htb' : 'netem']));
    for (const row of server.database.rows('Port').values()) {
      const [name, link] = [String(row['name']), kernel.host.links.get(String(row['name']))];
      const qos = [...types.keys()].find((uuid) => uuid === row['qos'] || (row['qos'] instanceof Set && row['qos'].has(uuid)));
      if (link === undefined || qos === this.#queues.get(name)) continue;
      link.queue = qos === undefined ? 'noqueue' : types.get(qos) === 'htb' ? 'htb' : 'netem';
      if (qos === undefined) this.#queues.delete(name);
      else this.#queues.set(name, qos);
    }
  }

  /** ovn-controller: only with its settings, and of two Interfaces with one logical port only one. */
  #installed(rows: readonly (readonly [Uuid, StoredRow])[]): readonly unknown[] {
    const { server, kernel } = this.#options;
    const [settings] = server.database.rows('Open_vSwitch').values();
    const isConfigured = settings !== undefined && keysOf(settings).has('ovn-remote') && keysOf(settings).has('system-id');
    const taken = new Set<string>();
    const isThere = (row: StoredRow): boolean =>
      kernel.host.links.has(String(row['name'])) || (row['type'] === 'internal' && this.#opened.has(openedAs(row)));
    return rows.flatMap(([uuid, row]) => {
      const ids = keysOf(row);
      const port = ids.get('iface-id');
      const isBound = port !== undefined && !taken.has(port) && isConfigured && isThere(row);
      if (isBound) taken.add(port);
      if (isBound === ids.has(INSTALLED)) return [];
      if (!isBound) return [removedKey(uuid)];
      const mutations = [['external_ids', 'insert', ['map', [[INSTALLED, 'true']]]]];
      return [{ op: 'mutate', table: 'Interface', where: isRow(uuid), mutations }];
    });
  }
}

export function keysOf(row: StoredRow): ReadonlyMap<string, string> {
  const ids = row['external_ids'];
  return ids instanceof Map ? (ids as ReadonlyMap<string, string>) : new Map();
}

function openedAs({ name, type }: StoredRow): string {
  return `${String(name)} ${String(type)}`;
}

export function isRow(uuid: Uuid): readonly unknown[] {
  return [['_uuid', '==', ['uuid', uuid]]];
}

function removedKey(uuid: Uuid): unknown {
  return { op: 'mutate', table: 'Interface', where: isRow(uuid), mutations: [['external_ids', 'delete', ['set', [INSTALLED]]]] };
}
