/**
 * The holders of each address, from observed objects and rows: IP objects, Vips, EIPs and their rules, allocated annotations of live pods,
 * owned port rows, and reservations of external addresses that no object has.
 */
import { portName } from '../api/names.ts';
import { isAlive } from '../compile/pod/view/pod-life.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { annotationKey } from '../api/well-known.ts';
import { OWNER_KEY } from '../nb/ownership.ts';
import type { AddressObject } from '../world/address-objects.ts';
import { ADDRESS_RESOURCES, claimantOfObject, claimantOfOwner } from '../world/address-objects.ts';
import { claimantOfPort } from '../world/external-subnets.ts';
import { heldTexts, ipSharingGroup } from '../world/claimants.ts';
import { labelledAddresses, eipKindOf, eipOfRule, NAT_RULES } from '../world/nat-rules.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface AddressHolder {
  /** `IP web-0.shop`, `Pod shop/web-0`, `Logical_Switch_Port web-0.shop`. */
  readonly subject: string;
  /** The claimant: an interface by its port's name, a Vip or EIP by kind and name. Its holders never conflict with each other. */
  readonly port: string;
  /** Claimants with the same group may share the address. */
  readonly share?: string;
  readonly address: Address;
}

/** Holders by Subnet, then by address text. */
export type HoldersBySubnet = ReadonlyMap<string, ReadonlyMap<string, readonly AddressHolder[]>>;

export function addressHolders(world: World): HoldersBySubnet {
  const found = new Map<string, Map<string, AddressHolder[]>>();
  const hold = (subnet: string, subject: string, port: string, texts: readonly string[], share?: string): void => {
    for (const text of texts) {
      const address = parseAddress(text.trim());
      if (address === undefined || subnet === '') continue;
      let bySubnet = found.get(subnet);
      if (bySubnet === undefined) found.set(subnet, (bySubnet = new Map<string, AddressHolder[]>()));
      const key = formatAddress(address);
      bySubnet.set(key, [...(bySubnet.get(key) ?? []), { subject, port, address, ...(share !== undefined && { share }) }]);
    }
  };
  for (const [name, ip] of world.ips.entries()) hold(ip.spec.subnet ?? '', `IP ${name}`, name, heldTexts(ip), ipSharingGroup(ip));
  for (const { kind, name, subnet, held, sharingGroup } of addressObjects(world)) {
    if (held === undefined) continue;
    const claimant = claimantOfObject(kind, name);
    hold(subnet, claimant, claimant, [held.v4, held.v6], sharingGroup);
  }
  for (const resource of NAT_RULES) {
    for (const [name, rule] of world.natRules[resource].entries()) {
      const eip = eipOfRule(rule);
      const { subnet, addresses } = labelledAddresses(rule);
      if (eip === '' || (rule.metadata.annotations?.[annotationKey.vpcEip] ?? eip) !== eip) continue;
      hold(subnet, `${traitsOf(resource).kind} ${name}`, claimantOfObject(eipKindOf(resource), eip), addresses);
    }
  }
  for (const { claimant, share } of externalClaimants(world)) {
    const reservation = world.reservations.peek(claimant);
    if (reservation?.kind !== 'granted') continue;
    hold(reservation.subnet, claimant, claimant, [reservation.v4, reservation.v6], share);
  }
  for (const nic of allocatedInterfaces(world)) hold(nic.subnet, `Pod ${nic.pod}`, nic.port, nic.addresses);
  for (const id of world.rows.owned) {
    if (tableOf(id) !== 'Logical_Switch_Port') continue;
    const row = world.rows.best(id)?.row;
    const externalIds = row?.external_ids;
    if (row?.type !== '' || !(row.addresses instanceof Set) || !(externalIds instanceof Map)) continue;
    const name = identityOf(id);
    // The port of a Vip or an EIP has the claimant of the object.
    const port = claimantOfOwner(String(externalIds.get(OWNER_KEY) ?? '')) ?? name;
    for (const portAddress of row.addresses)
      hold(String(externalIds.get('ls') ?? ''), `Logical_Switch_Port ${name}`, port, String(portAddress).split(' ').slice(1));
  }
  return found;
}

interface ExternalClaimant {
  readonly claimant: string;
  readonly share?: string;
}

/** What has external addresses without an object for them: pods with annotations `eip` and `snat`, router ports that the ConfigMap configures. */
function externalClaimants(world: World): readonly ExternalClaimant[] {
  const found: ExternalClaimant[] = [];
  for (const [key, pod] of world.pods.entries()) {
    const { annotations = {}, namespace = '' } = pod.metadata;
    if (!isAlive(pod, (deadline) => world.deadlines.passed(deadline))) continue;
    if (annotations[annotationKey.podEip] !== undefined) found.push({ claimant: claimantOfObject('PodEip', key) });
    const share = world.settings.tenancy === 'open' ? 'pod-snat' : `pod-snat ${namespace}`;
    if (annotations[annotationKey.podSnat] !== undefined) found.push({ claimant: claimantOfObject('PodSnat', key), share });
  }
  const { defaultVpc, externalSubnet } = world.settings;
  const port = claimantOfPort(defaultVpc, externalSubnet);
  return [...found, { claimant: port, share: port }, { claimant: `${port} (present)`, share: port }];
}

/** All Vips and EIPs. */
export function addressObjects(world: World): readonly AddressObject[] {
  return ADDRESS_RESOURCES.flatMap((resource) =>
    Array.from(world.addressTable(resource).entries(), ([name]) => world.addressObject(resource, name)).filter((one) => one !== undefined),
  );
}

export interface AllocatedInterface {
  readonly pod: string;
  readonly port: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

const ALLOCATED = '.kubernetes.io/allocated';

/** Interfaces of live pods with the annotation `allocated`. */
export function allocatedInterfaces(world: World): readonly AllocatedInterface[] {
  const found: AllocatedInterface[] = [];
  for (const [key, pod] of world.pods.entries()) {
    if (!isAlive(pod, (deadline) => world.deadlines.passed(deadline))) continue;
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
