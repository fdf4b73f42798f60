/** The operations for bridges of ProviderNetworks, the node's interfaces in them, and their entries in `ovn-bridge-mappings`. Pure. */
import { mapSet, mutateDelete, mutateInsert, type Operation, update, waitForNone, waitForRow } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { Row } from '../../ovsdb/value.ts';
import { INTEGRATION_BRIDGE } from '../../api/well-known.ts';
import type { VswitchBridge } from '../world/node-world.ts';
import type { BridgeMappingsOutput, ProviderBridgeOutput, UplinkPortOutput } from '../world/outputs.ts';
import { OWN_MAPPINGS, portKey, VENDOR } from '../world/port-keys.ts';
import { takenText } from '../world/device-network.ts';
import { newBridge } from './new-bridge.ts';
import { externalIdsOf, keysToSet, newPort, rowNamed } from './port-diff.ts';

const NOTHING: readonly Operation[] = [];
const MAPPINGS = 'ovn-bridge-mappings';
/**
 * A router of OVN is on every node, with one MAC address. In a network of nodes each node sends its packets with an address of its own, so that
 * switches do not see one address at many ports.
 */
const ROUTER_MACS = 'ovn-chassis-mac-mappings';

export function isProviderBridge(row: Row): boolean {
  return valueIn(row, portKey.providerNetwork) !== undefined;
}

/** Neither the bridge has our mark, nor its own Port: another program may have cleared the keys of one. */
export function isForeignBridge(replica: Replica, bridge: Row): boolean {
  const port = rowNamed(replica, 'Port', String(bridge['name']));
  return [bridge, port].every((row) => row === undefined || valueIn(row, portKey.vendor) !== VENDOR);
}

export function observedBridge(replica: Replica, row: Row): VswitchBridge {
  return {
    datapathType: String(row['datapath_type']),
    externalIds: Object.fromEntries(externalIdsOf(row)),
    ...(isForeignBridge(replica, row) && { foreign: true }),
  };
}

/** A bridge of another program has its name; one that Kube-OVN's agent made is taken over. */
export function bridgeConflict(replica: Replica, { name }: ProviderBridgeOutput): string | undefined {
  const present = rowNamed(replica, 'Bridge', name);
  if (present === undefined || !isForeignBridge(replica, present)) return undefined;
  return `a bridge of another program is named ${name}; ovs-vsctl list bridge ${name}`;
}

/** In one transaction with its marks: what it has instead of the interface is known before the interface is a part of it. */
export function providerBridgeOperations(
  replica: Replica,
  { name, datapathType, network, mac, externalIds }: ProviderBridgeOutput,
): readonly Operation[] {
  const ids = { [portKey.vendor]: VENDOR, [portKey.providerNetwork]: network, ...externalIds };
  const present = rowNamed(replica, 'Bridge', name);
  if (present !== undefined) {
    const { _uuid: uuid } = present;
    const config = present['other_config'];
    const otherMac = mac !== undefined && !(config instanceof Map && config.get('hwaddr') === mac);
    return [
      ...(present['datapath_type'] === datapathType
        ? NOTHING
        : [waitForRow('Bridge', uuid), update('Bridge', uuid, { datapath_type: datapathType })]),
      ...(otherMac ? [waitForRow('Bridge', uuid), mapSet('Bridge', uuid, 'other_config', { hwaddr: mac })] : NOTHING),
      ...keysToSet('Bridge', present, ids),
    ];
  }
  return newBridge(replica, name, {
    datapath_type: datapathType,
    ...(mac !== undefined && { other_config: { hwaddr: mac } }),
    external_ids: ids,
  });
}

/** Removes a bridge with all its ports, if it is one of a ProviderNetwork. */
export function bridgeRemoval(replica: Replica, name: string): readonly Operation[] {
  const present = rowNamed(replica, 'Bridge', name);
  const [switchRow] = replica.table('Open_vSwitch').values();
  if (present === undefined || switchRow === undefined || !isProviderBridge(present) || name === INTEGRATION_BRIDGE) return NOTHING;
  return [mutateDelete('Open_vSwitch', switchRow._uuid, 'bridges', [present._uuid])];
}

/** @returns the operations; undefined: its bridge is missing. Only for a port without a conflict. */
export function uplinkPortOperations(
  replica: Replica,
  { name, bridge, network, trunks }: UplinkPortOutput,
): readonly Operation[] | undefined {
  const bridgeRow = rowNamed(replica, 'Bridge', bridge);
  if (bridgeRow === undefined || isForeignBridge(replica, bridgeRow)) return undefined;
  const ids = { [portKey.vendor]: VENDOR, [portKey.providerNetwork]: network };
  const [port, present] = [rowNamed(replica, 'Port', name), rowNamed(replica, 'Interface', name)];
  if (port === undefined || present === undefined)
    return [
      waitForRow('Bridge', bridgeRow._uuid),
      waitForNone('Interface', 'name', name),
      ...newPort(bridgeRow, name, { external_ids: ids }, { trunks }),
    ];
  // In the bridge of another network, or of none any more.
  const elsewhere = Array.from(replica.table('Bridge').values()).filter(
    (row) => row._uuid !== bridgeRow._uuid && row['ports'] instanceof Set && row['ports'].has(port._uuid),
  );
  const isIn = bridgeRow['ports'] instanceof Set && bridgeRow['ports'].has(port._uuid);
  return [
    ...elsewhere.map((row) => mutateDelete('Bridge', row._uuid, 'ports', [port._uuid])),
    ...(isIn ? NOTHING : [mutateInsert('Bridge', bridgeRow._uuid, 'ports', [port._uuid])]),
    ...(sameTrunks(port, trunks) ? NOTHING : [waitForRow('Port', port._uuid), update('Port', port._uuid, { trunks })]),
    ...keysToSet('Interface', present, ids),
  ];
}

function sameTrunks({ trunks }: Row, wanted: readonly number[]): boolean {
  const present = trunks instanceof Set ? Array.from(trunks as ReadonlySet<number>) : [trunks].filter((one) => typeof one === 'number');
  return present.toSorted((a, b) => a - b).join() === wanted.join();
}

/** Entries that the agent wrote before are replaced, those of other programs stay. */
export function mappingOperations(replica: Replica, { bridges, macs, taken }: BridgeMappingsOutput): readonly Operation[] {
  const [row] = replica.table('Open_vSwitch').values();
  if (row === undefined) return NOTHING;
  const own = Object.entries(bridges).map(([network, bridge]) => `${network}:${bridge}`);
  const recorded = entriesOf(valueIn(row, OWN_MAPPINGS));
  const others = entriesOf(valueIn(row, MAPPINGS)).filter(
    (entry) => !recorded.includes(entry) && !Object.hasOwn(bridges, networkIn(entry)),
  );
  const presentMacs = entriesOf(valueIn(row, ROUTER_MACS));
  const ofOthers = presentMacs.filter(
    (entry) => !Object.hasOwn(bridges, networkIn(entry)) && recorded.every((one) => networkIn(one) !== networkIn(entry)),
  );
  const ownMacs = Object.keys(bridges).flatMap((network) => {
    const mac = macs[network];
    return mac === undefined ? presentMacs.filter((entry) => networkIn(entry) === network) : [`${network}:${mac}`];
  });
  const wanted = {
    [MAPPINGS]: [...others, ...own].join(','),
    [ROUTER_MACS]: [...ofOthers, ...ownMacs].join(','),
    [OWN_MAPPINGS]: own.join(','),
    [portKey.taken]: Object.keys(taken).length === 0 ? '' : takenText(taken),
  };
  const [set, remove] = [true, false].map((filled) => Object.entries(wanted).filter(([, value]) => (value !== '') === filled)) as [
    [string, string][],
    [string, string][],
  ];
  const gone = remove.map(([key]) => key).filter((key) => valueIn(row, key) !== undefined);
  return [
    ...keysToSet('Open_vSwitch', row, Object.fromEntries(set)),
    ...(gone.length === 0
      ? NOTHING
      : [waitForRow('Open_vSwitch', row._uuid), mutateDelete('Open_vSwitch', row._uuid, 'external_ids', gone)]),
  ];
}

/** `net1` of `net1:br-net1`. */
function networkIn(entry: string): string {
  return entry.slice(0, entry.indexOf(':'));
}

function entriesOf(text = ''): readonly string[] {
  return text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()]));
}

function valueIn(row: Row, key: string): string | undefined {
  const ids = row['external_ids'];
  const value: unknown = ids instanceof Map ? ids.get(key) : undefined;
  return typeof value === 'string' ? value : undefined;
}
