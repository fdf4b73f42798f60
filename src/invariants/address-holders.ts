/**
 * Who names which address, from what anybody can see: IP objects, allocated annotations of live pods, owned port rows.
 */
import { portName } from '../api/names.ts';
import { isAlive } from '../compile/pod/pod-life.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { heldTexts } from '../world/claimants.ts';
import type { World } from '../world/world.ts';

export interface AddressHolder {
  /** `IP web-0.shop`, `Pod shop/web-0`, `Logical_Switch_Port web-0.shop`. */
  readonly who: string;
  /** What holds together and never conflicts with itself: an interface by its port's name. */
  readonly port: string;
  readonly address: Address;
}

/** Holders by Subnet, then by address text. */
export type HoldersBySubnet = ReadonlyMap<string, ReadonlyMap<string, readonly AddressHolder[]>>;

export function addressHolders(world: World): HoldersBySubnet {
  const found = new Map<string, Map<string, AddressHolder[]>>();
  const hold = (subnet: string, who: string, port: string, texts: readonly string[]): void => {
    for (const text of texts) {
      const address = parseAddress(text.trim());
      if (address === undefined || subnet === '') continue;
      let bySubnet = found.get(subnet);
      if (bySubnet === undefined) found.set(subnet, (bySubnet = new Map<string, AddressHolder[]>()));
      const key = formatAddress(address);
      bySubnet.set(key, [...(bySubnet.get(key) ?? []), { who, port, address }]);
    }
  };
  for (const [name, ip] of world.ips.entries()) hold(ip.spec.subnet ?? '', `IP ${name}`, name, heldTexts(ip));
  for (const nic of allocatedInterfaces(world)) hold(nic.subnet, `Pod ${nic.pod}`, nic.port, nic.addresses);
  for (const id of world.rows.owned) {
    if (tableOf(id) !== 'Logical_Switch_Port') continue;
    const row = world.rows.best(id)?.row;
    const externalIds = row?.external_ids;
    if (row?.type !== '' || !(row.addresses instanceof Set) || !(externalIds instanceof Map)) continue;
    const port = identityOf(id);
    for (const station of row.addresses)
      hold(String(externalIds.get('ls') ?? ''), `Logical_Switch_Port ${port}`, port, String(station).split(' ').slice(1));
  }
  return found;
}

export interface AllocatedInterface {
  readonly pod: string;
  readonly port: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

const ALLOCATED = '.kubernetes.io/allocated';

/** Interfaces of live pods that are marked as allocated. */
export function allocatedInterfaces(world: World): readonly AllocatedInterface[] {
  const found: AllocatedInterface[] = [];
  for (const [key, pod] of world.pods.entries()) {
    if (!isAlive(pod, (moment) => world.deadlines.passed(moment))) continue;
    const { annotations = {}, name, namespace = '' } = pod.metadata;
    for (const [annotation, value] of Object.entries(annotations)) {
      if (!annotation.endsWith(ALLOCATED) || value !== 'true') continue;
      const provider = annotation.slice(0, -ALLOCATED.length);
      const say = (suffix: string): string => annotations[`${provider}.kubernetes.io/${suffix}`] ?? '';
      found.push({
        pod: key,
        port: portName(say('virtualmachine') === '' ? name : say('virtualmachine'), namespace, provider),
        subnet: say('logical_switch'),
        addresses: splitList(say('ip_address')),
        mac: say('mac_address'),
      });
    }
  }
  return found;
}
