/** The Open_vSwitch database of the node as a target: bridges, ports of pods, and the settings of ovn-controller. */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Operation } from '../../ovsdb/operation.ts';
import type { OvsdbSession } from '../../ovsdb/session.ts';
import type { Row, Value } from '../../ovsdb/value.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import { equal } from '../../engine/equal.ts';
import { attachmentKey, deviceOf, type DeviceName, RESTORED, unusualDevice } from '../world/attachment.ts';
import { routesOfText } from '../world/attachment-routes.ts';
import type { NodeWorld, VswitchPort } from '../world/node-world.ts';
import type { PortPartOutput } from '../world/outputs.ts';
import { portKey, VENDOR } from '../world/port-keys.ts';
import { LostPorts } from './lost-ports.ts';
import { copyOperations, MIRROR, mirrorOperations } from './mirror-diff.ts';
import { declareQosIndexes, deviceOfQos, qosOperations, qosRemoval } from './port-qos-diff.ts';
import type { Retries } from '../retries.ts';
import {
  bridgeOperations,
  declareIndexes,
  interfacesOf,
  isOurs,
  logicalPort,
  portConflict,
  portOperations,
  removalOperations,
  settingsOperations,
} from './port-diff.ts';
import {
  bridgeConflict,
  bridgeRemoval,
  isProviderBridge,
  mappingOperations,
  observedBridge,
  providerBridgeOperations,
  uplinkPortOperations,
} from './provider-bridge-diff.ts';

/** The tables that the agent reads. */
export const VSWITCH_TABLES = {
  Open_vSwitch: ['bridges', 'next_cfg', 'cur_cfg', 'external_ids'],
  Bridge: ['name', 'ports', 'mirrors', 'datapath_type', 'other_config', 'external_ids'],
  Port: ['name', 'interfaces', 'trunks', 'qos', 'external_ids'],
  Interface: ['name', 'type', 'external_ids', 'error', 'ofport', 'ingress_policing_rate', 'ingress_policing_burst'],
  QoS: ['type', 'queues', 'other_config', 'external_ids'],
  Queue: ['other_config', 'external_ids'],
  Mirror: ['name', 'select_src_port', 'select_dst_port', 'output_port', 'external_ids'],
} as const;

/** Identities in one transaction. */
const MOST_TOGETHER = 64;
const SETTINGS = 'settings';
/** Identity of the entries of `ovn-bridge-mappings`. */
export const MAPPINGS = 'bridge-mappings';

export interface VswitchTargetOptions {
  readonly session: OvsdbSession;
  readonly world: NodeWorld;
  readonly retries: Retries;
  readonly log: Log;
  readonly wake: () => void;
  /** Called once the attachments from before this process are in the World. */
  readonly restored?: () => void;
}

export class VswitchTarget implements Target {
  readonly name = 'the Open_vSwitch database';
  readonly desired = new KeyedOutputs<PortPartOutput>(
    ['bridge', 'provider-bridge', 'port', 'uplink-port', 'bridge-mappings', 'retained-port', 'mirror', 'settings'],
    identityOf,
  );
  readonly #options: VswitchTargetOptions;
  /** Identities with a transaction under way. */
  readonly #sent = new Set<string>();
  /** Identities of a transaction of several that failed. */
  readonly #alone = new Set<string>();
  readonly #lost: LostPorts;
  #observed = false;

  constructor(options: VswitchTargetOptions) {
    this.#options = options;
    const { session, wake } = options;
    this.#lost = new LostPorts(session.replica);
    declareIndexes(session.replica);
    declareQosIndexes(session.replica);
    session.onChanges((batch) => {
      for (const { table, kind, row } of batch) this.#take(table, row, kind === 'delete');
      wake();
    });
    session.onState((state) => {
      if (state === 'synced') this.#synced();
      wake();
    });
  }

  get observed(): boolean {
    return this.#observed;
  }

  get busy(): boolean {
    return false;
  }

  get quiet(): boolean {
    return this.desired.due.size === 0 && this.#sent.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.#options.session.state === 'synced' ? [] : [this.name];
  }

  /** Also while the connection is lost: a transaction whose reply was lost may have taken effect. */
  isWriting(port: DeviceName): boolean {
    return this.#sent.has(portIdentity(port)) || this.#options.session.state !== 'synced';
  }

  start(): void {
    this.#options.session.start();
  }

  async stop(): Promise<void> {
    await this.#options.session.close();
  }

  examineAll(): void {
    for (const id of this.desired.ids) this.desired.due.add(id);
    for (const row of this.#options.session.replica.table('Interface').values())
      if (isOurs(row)) this.desired.due.add(portIdentity(String(row['name'])));
    for (const row of this.#options.session.replica.table('Bridge').values())
      if (isProviderBridge(row)) this.desired.due.add(bridgeIdentity(String(row['name'])));
    for (const table of ['QoS', 'Queue']) for (const row of this.#options.session.replica.table(table).values()) this.#takeQos(row);
  }

  /** A port that no rule knows may be one to remove. */
  examine(port: DeviceName): void {
    this.desired.due.add(portIdentity(port));
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (id) => ({ id, operations: this.#operations(id) })).filter(
      ({ operations }) => operations.length > 0,
    );
  }

  flush(): boolean {
    if (this.#options.session.state !== 'synced') return true;
    const together: [string, readonly Operation[]][] = [];
    for (const id of this.desired.due) {
      if (this.#sent.has(id) || this.#options.retries.mustWait(id) || (this.desired.of(id).length > 0 && this.#lost.isOpen(id))) continue;
      this.desired.due.delete(id);
      const conflict = this.#conflict(id);
      if (conflict !== undefined) {
        this.desired.due.add(id);
        this.#options.retries.failed(id, conflict);
        continue;
      }
      const operations = this.#operations(id);
      if (operations.length === 0) {
        this.#alone.delete(id);
        this.#options.retries.succeeded(id);
      } else if (this.#alone.has(id)) void this.#send([id], operations);
      else together.push([id, operations]);
    }
    for (let from = 0; from < together.length; from += MOST_TOGETHER) {
      const some = together.slice(from, from + MOST_TOGETHER);
      void this.#send(
        some.map(([id]) => id),
        some.flatMap(([, operations]) => operations),
      );
    }
    return true;
  }

  /** Ports of many pods in one transaction: Open vSwitch configures itself once for all. If it fails, each is tried on its own. */
  async #send(ids: readonly string[], operations: readonly Operation[]): Promise<void> {
    const { session, retries, log, wake } = this.#options;
    for (const id of ids) this.#sent.add(id);
    const lost = ids.filter((id) => this.#isLost(id));
    const outcome = await session.transact(lost.length > 0 ? [...operations, ...this.#lost.question()] : operations);
    if (outcome.ok) for (const id of lost) this.#lost.removed(id);
    for (const id of ids) {
      this.#sent.delete(id);
      // Whatever the outcome: the next diff sees what is.
      this.desired.due.add(id);
      if (outcome.ok) {
        this.#alone.delete(id);
        retries.succeeded(id);
      } else if (ids.length > 1) this.#alone.add(id);
      else {
        log.warn('a change of the Open_vSwitch database failed and will be tried again', {
          id,
          code: outcome.error.code,
          error: outcome.error.message,
        });
        retries.failed(id, `the Open_vSwitch database rejected ${id}: ${outcome.error.message}`);
      }
    }
    wake();
  }

  #conflict(id: string): string | undefined {
    const [output] = this.desired.of(id);
    const { replica } = this.#options.session;
    if (output?.kind === 'provider-bridge') return bridgeConflict(replica, output);
    return output?.kind === 'port' || output?.kind === 'uplink-port' ? portConflict(replica, output) : undefined;
  }

  #operations(id: string): readonly Operation[] {
    const { replica } = this.#options.session;
    const [output] = this.desired.of(id);
    switch (output?.kind) {
      case 'bridge':
        return bridgeOperations(replica, output);
      case 'provider-bridge':
        return providerBridgeOperations(replica, output);
      case 'uplink-port':
        return uplinkPortOperations(replica, output) ?? [];
      case 'bridge-mappings':
        return mappingOperations(replica, output);
      case 'settings':
        return settingsOperations(replica, output);
      case 'mirror':
        return mirrorOperations(replica, output);
      case 'port': {
        const operations = portOperations(replica, output) ?? [];
        // The port is observed first: its limits refer to it.
        return operations.length > 0 ? operations : [...qosOperations(replica, output), ...copyOperations(replica, output)];
      }
      case 'retained-port':
        return [];
      case undefined: {
        const bridge = bridgeNameOf(id);
        if (bridge !== undefined) return bridgeRemoval(replica, bridge);
        const name = portNameOf(id);
        const row = name === undefined ? undefined : replica.index('Interface', 'name').first(name);
        if (name === undefined) return [];
        const isGone = row !== undefined && (isOurs(row) || this.#isRemoved(name));
        return [...(isGone ? removalOperations(replica, name) : []), ...qosRemoval(replica, name)];
      }
    }
  }

  /** Whether a port is taken away whose device does not exist: if the rules want it again, ovs-vswitchd has to see first that it went. */
  #isLost(id: string): boolean {
    const name = portNameOf(id);
    return name !== undefined && this.desired.of(id).length === 0 && this.#options.world.devices.peek(name)?.kind === 'absent';
  }

  /** Of an interface that the runtime asked to remove: another program may have cleared the keys of its Interface. The Port has a mark as well. */
  #isRemoved(name: string): boolean {
    const { world } = this.#options;
    if (world.ports.peek(name)?.marked !== true) return false;
    return Array.from(world.attachments.entries()).some(([, attachment]) => attachment.removing === true && deviceOf(attachment) === name);
  }

  /** Attachments of running pods, from before this process. */
  #synced(): void {
    const { session } = this.#options;
    if (!this.#observed) for (const row of session.replica.table('Interface').values()) if (isOurs(row)) this.#restore(row);
    const isFirst = !this.#observed;
    this.#observed = true;
    if (isFirst) this.#options.restored?.();
    this.examineAll();
  }

  #restore(row: Row): void {
    const { world } = this.#options;
    const ids = textMap(row['external_ids']);
    if (ids[portKey.container] === undefined) return;
    const key = attachmentKey(ids[portKey.container] ?? '', ids[portKey.interface] ?? '');
    if ((world.attachments.peek(key)?.order ?? RESTORED.withLinkAlone) > RESTORED.withLinkAlone) return;
    world.attachments.set(key, {
      key,
      order: ids[portKey.port] === undefined ? RESTORED.withoutLogicalPort : RESTORED.withLogicalPort,
      containerId: ids[portKey.container] ?? '',
      interfaceName: ids[portKey.interface] ?? '',
      ...unusualDevice(ids[portKey.container] ?? '', ids[portKey.interface] ?? '', String(row['name']) as DeviceName),
      namespacePath: ids[portKey.namespacePath] ?? '',
      pod: { namespace: ids[portKey.podNamespace] ?? '', name: ids[portKey.podName] ?? '' },
      provider: ids[portKey.provider] ?? '',
      // Without what is no route: another program may have written it.
      routes: routesOfText(ids[portKey.routes] ?? '')?.filter((route) => route !== undefined) ?? [],
    });
  }

  #takePort(row: Row): void {
    const { world, session } = this.#options;
    const name = String(row['name']);
    const present = session.replica.index('Port', 'name').first(name);
    const queue = session.replica
      .index('QoS', 'device')
      .all(name)
      .find(({ _uuid }) => _uuid === present?.['qos']);
    const marked = textMap(present?.['external_ids'])[portKey.vendor] === VENDOR;
    const port = { ...portOf(row), ...(marked && { marked }), ...(queue === undefined ? {} : { queue: queue._uuid }) };
    if (!equal(world.ports.peek(name), port)) world.ports.set(name, port);
  }

  #takeBridge(row: Row): void {
    const { world, session } = this.#options;
    const [name, bridge] = [String(row['name']), observedBridge(session.replica, row)];
    if (!equal(world.bridges.peek(name), bridge)) world.bridges.set(name, bridge);
  }

  #takeQos(row: Row): void {
    const device = deviceOfQos(row);
    if (device !== undefined) this.desired.due.add(portIdentity(device));
  }

  #take(table: string, row: Row, gone: boolean): void {
    const { world, session } = this.#options;
    const name = String(row['name']);
    if (table === 'Interface') {
      if (gone) world.ports.delete(name);
      else this.#takePort(row);
      this.desired.due.add(portIdentity(name));
      for (const other of interfacesOf(this.#options.session.replica, logicalPort(row) ?? ''))
        this.desired.due.add(portIdentity(String(other['name'])));
    } else if (table === 'Port') {
      this.desired.due.add(portIdentity(name));
      const [device, bridge] = ['Interface', 'Bridge'].map((one) => session.replica.index(one, 'name').first(name));
      if (device !== undefined) this.#takePort(device);
      // Its own port has the mark as well.
      if (bridge !== undefined) this.#takeBridge(bridge);
      // It waits for its own port.
      this.desired.due.add(mirrorIdentity(MIRROR));
    } else if (table === 'QoS' || table === 'Queue') {
      this.#takeQos(row);
    } else if (table === 'Mirror') {
      for (const id of this.desired.ids) this.desired.due.add(id);
    } else if (table === 'Bridge') {
      if (gone) world.bridges.delete(name);
      else this.#takeBridge(row);
      this.desired.due.add(bridgeIdentity(name));
      // Ports may wait for it.
      for (const id of this.desired.ids) this.desired.due.add(id);
    } else if (table === 'Open_vSwitch' && !gone) {
      const present = textMap(row['external_ids']);
      for (const [key] of [...world.settings.entries()]) if (!(key in present)) world.settings.delete(key);
      for (const [key, value] of Object.entries(present)) world.settings.set(key, value);
      this.desired.due.add(SETTINGS);
      this.desired.due.add(MAPPINGS);
    }
  }
}

function identityOf(output: PortPartOutput): string {
  switch (output.kind) {
    case 'settings':
      return SETTINGS;
    case 'bridge-mappings':
      return MAPPINGS;
    case 'bridge':
    case 'provider-bridge':
      return bridgeIdentity(output.name);
    case 'mirror':
      return mirrorIdentity(output.name);
    default:
      return portIdentity(output.name);
  }
}

function bridgeIdentity(name: string): string {
  return `bridge ${name}`;
}

function bridgeNameOf(id: string): string | undefined {
  return id.startsWith('bridge ') ? id.slice('bridge '.length) : undefined;
}

function mirrorIdentity(name: string): string {
  return `mirror ${name}`;
}

function portIdentity(name: string): string {
  return `port ${name}`;
}

function portNameOf(id: string): string | undefined {
  return id.startsWith('port ') ? id.slice('port '.length) : undefined;
}

function portOf({ _uuid, external_ids: ids, error, ofport }: Row): VswitchPort {
  const isOpened = typeof ofport === 'number' && ofport > 0;
  return { externalIds: textMap(ids), error: typeof error === 'string' ? error : '', ...(isOpened && { opened: _uuid }) };
}

function textMap(value: Value | undefined): Readonly<Record<string, string>> {
  return value instanceof Map ? Object.fromEntries(Array.from(value as ReadonlyMap<string, string>)) : {};
}
