/**
 * What a node has of Open vSwitch for the agent beside the rows that bear its marks: the bridge of OVN, also one that ovn-controller made; tunnels
 * and patch ports of ovn-controller; devices that stay as ovs-vswitchd does not run. Pure.
 */
import { INTEGRATION_BRIDGE } from '../../api/well-known.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { Row } from '../../ovsdb/value.ts';
import { externalIdsOf, isOurs as isPortOfAgent, rowNamed } from '../vswitch/port-diff.ts';
import { isProviderBridge } from '../vswitch/provider-bridge-diff.ts';
import { before } from '../vswitch/settings-before.ts';
import { type HostLink, isOfSwitch } from '../world/device-network.ts';
import { portKey, VENDOR } from '../world/port-keys.ts';

/** Of something that is not removed. */
export interface Stays {
  readonly what: string;
  /** Why, and the next command. */
  readonly why: string;
}

export type BridgeFate =
  | { readonly kind: 'none' }
  | { readonly kind: 'goes'; readonly row: Row }
  | { readonly kind: 'stays'; readonly isOurs: boolean; readonly stays: Stays };

/** The bridge of OVN goes if the agent made it, or ovn-controller for it, and no other program has something in it. */
export function integrationBridge(replica: Replica): BridgeFate {
  const row = rowNamed(replica, 'Bridge', INTEGRATION_BRIDGE);
  if (row === undefined) return { kind: 'none' };
  const own = rowNamed(replica, 'Port', INTEGRATION_BRIDGE);
  const isOurs = isMarked(row) || (own !== undefined && isMarked(own));
  const stay = (why: string): BridgeFate => ({ kind: 'stays', isOurs, stays: { what: `bridge ${INTEGRATION_BRIDGE}`, why } });
  const others = portsOf(replica, row).filter((port) => !isExplained(replica, port));
  const [first] = others;
  if (first !== undefined) {
    const more = others.length === 1 ? '' : ` (and ${others.length - 1} more)`;
    const name = String(first['name']);
    return stay(
      `port ${name}${more} of another program is in it; ovs-vsctl list port ${name}, and then ovs-vsctl del-br ${INTEGRATION_BRIDGE}`,
    );
  }
  if (isOurs) return { kind: 'goes', row };
  const remote = formerOvn(replica);
  if (remote !== undefined)
    return stay(`it was there before the agent, for the OVN at ${remote}; if nothing needs that, ovs-vsctl del-br ${INTEGRATION_BRIDGE}`);
  const [key] = [...externalIdsOf(row).keys()].filter((one) => !one.startsWith('ct-zone-') && !one.startsWith('ovn-'));
  if (key !== undefined) return stay(`another program made it (external_ids:${key}); ovs-vsctl list bridge ${INTEGRATION_BRIDGE}`);
  return { kind: 'goes', row };
}

/** Tunnels in the bridge of OVN that stays, and patch ports of networks in bridges that stay: ovn-controller removes them no more. */
export function portsOfController(replica: Replica, fate: BridgeFate): readonly { readonly bridge: Row; readonly port: Row }[] {
  if (formerOvn(replica) !== undefined) return [];
  return Array.from(replica.table('Bridge').values())
    .filter((bridge) => !(fate.kind === 'goes' && fate.row._uuid === bridge._uuid) && !isProviderBridge(bridge))
    .flatMap((bridge) => portsOf(replica, bridge).flatMap((port) => (isOfController(port) ? [{ bridge, port }] : [])));
}

/** `ovn-remote` from before the agent; undefined if OVN was not on the node. */
function formerOvn(replica: Replica): string | undefined {
  const [settings] = replica.table('Open_vSwitch').values();
  return settings === undefined ? undefined : before(externalIdsOf(settings), 'ovn-remote');
}

function portsOf(replica: Replica, bridge: Row): readonly Row[] {
  const ports = bridge['ports'];
  const uuids = ports instanceof Set ? Array.from(ports) : [ports];
  return uuids.flatMap((uuid) => replica.table('Port').get(uuid as never) ?? []);
}

/** Its own, the agent's, or one of ovn-controller. */
function isExplained(replica: Replica, port: Row): boolean {
  const name = String(port['name']);
  const found = rowNamed(replica, 'Interface', name);
  return name === INTEGRATION_BRIDGE || (found !== undefined && isPortOfAgent(found)) || isOfController(port);
}

function isOfController(port: Row): boolean {
  return [...externalIdsOf(port).keys()].some((key) => key.startsWith('ovn-'));
}

function isMarked(row: Row): boolean {
  return externalIdsOf(row).get(portKey.vendor) === VENDOR;
}

/** Devices that go with rows of the agent, as Open vSwitch removes them: to be asked for before any row is removed. */
export function devicesOfRows(replica: Replica): readonly string[] {
  const fate = integrationBridge(replica);
  const bridges = Array.from(replica.table('Bridge').values()).filter(
    (row) => isProviderBridge(row) || (fate.kind === 'goes' && fate.row === row),
  );
  const inside = bridges.flatMap((row) => portsOf(replica, row).map((port) => String(port['name'])));
  return Array.from(replica.table('Interface').values())
    .filter((row) => row['type'] === 'internal' && (inside.includes(String(row['name'])) || isPortOfAgent(row)))
    .map((row) => String(row['name']));
}

/** Of both datapaths, and of tunnels: no bridge has one of its own. */
const SHARED = /^(?:ovs-netdev|ovs-system|(?:genev|vxlan|stt|gre)_sys(?:_\d+)?)$/;
/** The names that the agent gives, of rows that an earlier cleanup removed. */
const OWN = [INTEGRATION_BRIDGE, 'ovn0', 'mirror0'];

export interface LeftDevices {
  readonly removed: readonly string[];
  readonly stays: readonly Stays[];
}

/**
 * Devices that stay when the rows are gone, as ovs-vswitchd does not run.
 * @param named see `devicesOfRows`
 * @param bridgesLeft the number of bridges of other programs: they may need what bridges share
 */
export function leftDevices(
  replica: Replica,
  links: ReadonlyMap<string, HostLink>,
  named: readonly string[],
  bridgesLeft: number,
): LeftDevices {
  const unexplained = OWN.filter((name) => rowNamed(replica, 'Interface', name) === undefined);
  const left = [...links].filter(([name, link]) =>
    SHARED.test(name) ? bridgesLeft === 0 : isOfSwitch(link) && (named.includes(name) || unexplained.includes(name)),
  );
  return {
    removed: left.filter(([, { type }]) => type !== 'openvswitch').map(([name]) => name),
    stays: left
      .filter(([, { type }]) => type === 'openvswitch')
      .map(([name]) => ({
        what: `device ${name}`,
        why: "ovs-vswitchd does not run, and the kernel's Open vSwitch keeps it: start ovs-vswitchd, which removes it, or ovs-dpctl del-dp ovs-system",
      })),
  };
}
