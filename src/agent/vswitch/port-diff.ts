/** The operations that make a bridge, a port or the settings of Open vSwitch as they should be. Pure. */
import { insertNamed, mapSet, mutateDelete, mutateInsert, type Operation, update, waitForNone, waitForRow } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { InputRow, Row } from '../../ovsdb/value.ts';
import type { Uuid } from '../../ovsdb/uuid.ts';
import type { BridgeOutput, PortOutput, SettingsOutput } from '../world/outputs.ts';
import { portKey, VENDOR } from '../world/port-keys.ts';
import { newBridge } from './new-bridge.ts';
import { rowName } from './row-name.ts';
import { withRecord } from './settings-before.ts';

const NOTHING: readonly Operation[] = [];

/** A bridge that is missing is inserted, with its own port; of one that exists the datapath alone is ours. */
export function bridgeOperations(replica: Replica, { name, datapathType }: BridgeOutput): readonly Operation[] {
  const present = rowNamed(replica, 'Bridge', name);
  if (present !== undefined)
    return present['datapath_type'] === datapathType
      ? NOTHING
      : [waitForRow('Bridge', present._uuid), update('Bridge', present._uuid, { datapath_type: datapathType })];
  return newBridge(replica, name, { datapath_type: datapathType, fail_mode: 'secure', external_ids: { [portKey.vendor]: VENDOR } });
}

/** Keys that differ are set. */
export function settingsOperations(replica: Replica, { externalIds }: SettingsOutput): readonly Operation[] {
  const [row] = replica.table('Open_vSwitch').values();
  return row === undefined ? NOTHING : keysToSet('Open_vSwitch', row, externalIds, withRecord);
}

/** Why a port cannot be made: another program's Interface has its name. */
export function portConflict(replica: Replica, { name }: Pick<PortOutput, 'name'>): string | undefined {
  const [present, port] = [rowNamed(replica, 'Interface', name), rowNamed(replica, 'Port', name)];
  // The Port has the mark as well: another program may have cleared the keys of the Interface.
  if (present === undefined || isOfKubeOvn(present) || (port !== undefined && isOfKubeOvn(port))) return undefined;
  return `an Interface of another program is named ${name}; ovs-vsctl list interface ${name}`;
}

/** @returns the operations; undefined: its bridge is missing. Only for a port without a conflict. */
export function portOperations(replica: Replica, { name, bridge, type, externalIds }: PortOutput): readonly Operation[] | undefined {
  const bridgeRow = rowNamed(replica, 'Bridge', bridge);
  if (bridgeRow === undefined) return undefined;
  const present = rowNamed(replica, 'Interface', name);
  const port = externalIds[portKey.port] ?? '';
  if (present !== undefined) return [...claimed(replica, name, port), ...keysToSet('Interface', present, externalIds)];
  return [
    waitForRow('Bridge', bridgeRow._uuid),
    waitForNone('Interface', 'name', name),
    ...claimed(replica, name, port),
    ...newPort(bridgeRow, name, { type: type ?? '', external_ids: externalIds }),
  ];
}

/** A port with one Interface of its name. @param row columns of the Interface. @param portRow columns of the Port */
export function newPort(bridge: Row, name: string, row: InputRow, portRow: InputRow = {}): readonly Operation[] {
  const [interfaceName, port] = [rowName('interface', name), rowName('port', name)];
  return [
    insertNamed('Interface', { name, ...row }, interfaceName),
    insertNamed('Port', { name, interfaces: [interfaceName], ...portRow, external_ids: { [portKey.vendor]: VENDOR } }, port),
    mutateInsert('Bridge', bridge._uuid, 'ports', [port]),
  ];
}

/** Removes a port of ours from its bridge, with its Interface; nothing for one that is not there. */
export function removalOperations(replica: Replica, name: string): readonly Operation[] {
  const port = rowNamed(replica, 'Port', name);
  const bridge = port && bridgeOf(replica, port._uuid);
  if (port === undefined || bridge === undefined) return NOTHING;
  return [mutateDelete('Bridge', bridge._uuid, 'ports', [port._uuid])];
}

/** Whether the agent made an Interface. */
export function isOurs(row: Row): boolean {
  const ids = row['external_ids'];
  return (
    ids instanceof Map &&
    ids.get(portKey.vendor) === VENDOR &&
    [portKey.container, portKey.node, portKey.providerNetwork].some((key) => ids.has(key))
  );
}

/** Made by the agent, or by that of Kube-OVN, which names the interface of a container alike. */
function isOfKubeOvn(row: Row): boolean {
  const ids = row['external_ids'];
  return ids instanceof Map && ids.get(portKey.vendor) === VENDOR;
}

function bridgeOf(replica: Replica, port: Uuid): Row | undefined {
  return Array.from(replica.table('Bridge').values()).find((row) => row['ports'] instanceof Set && row['ports'].has(port));
}

/** Indexes that the functions here use: to be declared once for each replica. */
export function declareIndexes(replica: Replica): void {
  for (const table of ['Bridge', 'Port', 'Interface']) replica.index(table, 'name', (row) => String(row['name']));
  replica.index('Interface', 'logical port', logicalPort);
}

export function rowNamed(replica: Replica, table: 'Bridge' | 'Port' | 'Interface', name: string): Row | undefined {
  return replica.index(table, 'name').first(name);
}

/** The logical port is taken from the interface of another sandbox of the pod: of two, ovn-controller binds one by chance. */
function claimed(replica: Replica, name: string, port: string): readonly Operation[] {
  return interfacesOf(replica, port)
    .filter((row) => row['name'] !== name && isOurs(row))
    .map((row) => mutateDelete('Interface', row._uuid, 'external_ids', [portKey.port]));
}

/** The Interfaces that have a logical port: one, unless two sandboxes of a pod got theirs at the same time. */
export function interfacesOf(replica: Replica, port: string): readonly Row[] {
  return replica.index('Interface', 'logical port').all(port);
}

/** Undefined for an Interface without one. */
export function logicalPort(row: Row): string | undefined {
  const ids = row['external_ids'];
  const port: unknown = ids instanceof Map ? ids.get(portKey.port) : undefined;
  return typeof port === 'string' ? port : undefined;
}

type Keys = Readonly<Record<string, string>>;

/** @param also adds to the keys that are set */
export function keysToSet(
  table: 'Open_vSwitch' | 'Interface' | 'Bridge',
  row: Row,
  wanted: Keys,
  also: (present: ReadonlyMap<string, string>, setting: Keys) => Keys = (_, setting) => setting,
): readonly Operation[] {
  const present = externalIdsOf(row);
  const differing = Object.entries(wanted).filter(([key, value]) => present.get(key) !== value);
  if (differing.length === 0) return NOTHING;
  return [waitForRow(table, row._uuid), mapSet(table, row._uuid, 'external_ids', also(present, Object.fromEntries(differing)))];
}

export function externalIdsOf(row: Row): ReadonlyMap<string, string> {
  const present = row['external_ids'];
  return present instanceof Map ? (present as ReadonlyMap<string, string>) : new Map();
}
