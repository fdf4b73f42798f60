/**
 * The port of each pod that has its network is as its annotations and its Subnet ask, and who is told that it cannot have something cannot.
 * As `spec-fields.ts` this asks no rule.
 */
import { portName } from '../../../src/api/names.ts';
import type { Pod } from '../../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { annotationKey, kilnAnnotation, labelKey, POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { addressHolders } from '../../../src/invariants/address-holders.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { cidrContains, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { Row } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import { askedFaults, attachmentFaults, portFaults } from './port-fields.ts';
import { best, isInPlace, mapOf, said, sorted, textOf } from './reading.ts';

/** The port of a pod that has its network and is not told otherwise. */
export function podFaults(world: World, subnet: string, object: Subnet, pod: Pod): readonly string[] {
  const { spec } = object;
  const { name, namespace = '', annotations = {} } = pod.metadata;
  if (said(pod, 'allocated') !== 'true' || !runs(pod) || isTold(pod)) return [];
  const machine = said(pod, 'virtualmachine');
  const row = best(world, 'Logical_Switch_Port', portName(machine === '' ? name : machine, namespace, 'ovn'));
  if (row === undefined) return [];
  const addresses = splitList(said(pod, 'ip_address'));
  const cidrs = splitList(spec.cidrBlock ?? '').flatMap((text) => parseCidr(text) ?? []);
  const isIn = addresses.every((text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
  });
  if (!isIn) return [];
  const told = (['cidr', 'gateway'] as const).flatMap((suffix) => {
    const asked = suffix === 'cidr' ? spec.cidrBlock : spec.gateway;
    return sorted(said(pod, suffix)) === sorted(asked ?? '')
      ? []
      : [`${suffix} that it is told is ${said(pod, suffix)}, and not ${asked ?? ''}`];
  });
  const dhcp = ([4, 6] as const).flatMap((family) => {
    const has = addresses.some((text) => text.includes(':') === (family === 6));
    if ((annotations[podAnnotation('ovn', `dhcp-v${family}-options`)] ?? '') !== '') return [];
    const options = world.rows.best(rowId('DHCP_Options', subnet, `IPv${family}`, ''));
    const wants = has && spec.enableDHCP === true && options?.ownership.kind === 'ours' ? options.row._uuid : '';
    const held = textOf(row[`dhcpv${family}_options`]);
    return held === String(wants)
      ? []
      : [`DHCP options of IPv${family} are ${held || 'none'}, and its Subnet has ${String(wants) || 'none'}`];
  });
  const secure = world.settings.tenancy === 'namespaced' || said(pod, 'port_security') === 'true';
  const guarded = textOf(row['port_security']);
  const security =
    secure && !addresses.every((text) => guarded.includes(text))
      ? [`port_security is ${guarded || 'off'}`]
      : !secure && guarded !== ''
        ? [`port_security is ${guarded}, and it asks for none`]
        : [];
  const places = machine === '' ? [pod.spec.nodeName ?? ''] : [];
  const placed = world.ips.peek(portName(name, namespace, 'ovn'))?.spec.nodeName ?? '';
  const place =
    places.length === 0 || places.includes(placed) ? [] : [`IP object says node ${placed || 'none'}, and it is on ${places.join('')}`];
  return [
    ...place,
    ...told,
    ...dhcp,
    ...security,
    ...vipFaults(world, subnet, pod, row, secure),
    ...movingFaults(world, pod, row),
    ...portFaults(world, subnet, object, pod, row),
    ...askedFaults(pod),
    ...attachmentFaults(world, pod),
  ];
}

/** Its address is in the network that it is told, also where its Subnet has another one since. */
export function networkFaults(pod: Pod): readonly string[] {
  if (said(pod, 'allocated') !== 'true' || !runs(pod)) return [];
  const cidrs = splitList(said(pod, 'cidr')).flatMap((text) => parseCidr(text) ?? []);
  return splitList(said(pod, 'ip_address')).flatMap((text) => {
    const address = parseAddress(text);
    const isIn =
      address === undefined || cidrs.length === 0 || cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
    return isIn ? [] : [`network that it is told is ${said(pod, 'cidr')}, and its address ${text}`];
  });
}

/** Two pods that run have one MAC in one network, and neither is told. */
export function sharedMacs(pods: readonly (readonly [string, Pod])[]): readonly string[] {
  const byMac = new Map<string, string>();
  return pods.flatMap(([key, pod]) => {
    const mac = said(pod, 'mac_address');
    if (mac === '' || said(pod, 'allocated') !== 'true' || !runs(pod) || isTold(pod) || said(pod, 'virtualmachine') !== '') return [];
    const other = byMac.get(mac);
    byMac.set(mac, key);
    return other === undefined ? [] : [`MAC ${mac} is that of Pod ${other} and of Pod ${key}`];
  });
}

function runs({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function isTold({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === POD_CONDITION && one.status !== 'True') === true;
}

/** Reasons to refuse an address that is asked for by name, and free. */
const REFUSED: ReadonlySet<string> = new Set(['AddressConflict', 'NoAvailableAddress', 'AddressUnavailable']);

/** A pod names addresses that nobody has, of a network that gives them, or a Vip that nobody else has, and is told that it cannot have them. */
export function refusedInVain(world: World, pod: Pod): readonly string[] {
  const bound = pod.status?.conditions?.find(({ type }) => type === POD_CONDITION);
  const vip = pod.metadata.annotations?.[annotationKey.vip] ?? '';
  if (vip !== '' && bound?.reason === 'AddressConflict' && runs(pod)) return vipRefused(world, vip, bound.message ?? '');
  const asked = splitList(said(pod, 'ip_address'));
  if (bound === undefined || !REFUSED.has(bound.reason ?? '') || asked.length === 0 || said(pod, 'mac_address') !== '' || !runs(pod))
    return [];
  // Of the other family, which it does not name, there is none left.
  const missing = /no free IPv([46]) address/.exec(bound.message ?? '')?.[1];
  if (missing !== undefined && !asked.some((text) => text.includes(':') === (missing === '6'))) return [];
  // An IP object that is there for the pod has another address, and comes first.
  const { name: own, namespace = '' } = pod.metadata;
  const kept = world.ips.peek(portName(own, namespace, 'ovn'))?.spec.ipAddress ?? '';
  if (kept !== '' && sorted(kept) !== sorted(asked.join(',')) && bound.message?.includes(`IP ${portName(own, namespace, 'ovn')}`) === true)
    return [];
  const named = /in Subnet "([^"]+)"|of Subnet "([^"]+)"/.exec(bound.message ?? '');
  const name = named?.[1] ?? named?.[2] ?? '';
  const subnet = world.subnets.peek(name);
  if (subnet === undefined || !isInPlace(subnet)) return [];
  const holders = addressHolders(world).get(name);
  const free = asked.every((text) => (holders?.get(text) ?? []).length === 0 && !splitList(subnet.spec.gateway ?? '').includes(text));
  return free ? [`address ${asked.join(',')} is refused (${bound.message ?? ''}), and nobody has it`] : [];
}

function vipRefused(world: World, name: string, message: string): readonly string[] {
  // Its spec may ask for another one since.
  const subnet = world.vips.peek(name)?.metadata.labels?.[labelKey.subnet] ?? '';
  const { v4ip = '', v6ip = '' } = world.vips.peek(name)?.status ?? {};
  const addresses = [v4ip, v6ip].filter((text) => text !== '');
  const object = world.subnets.peek(subnet);
  // Of a MAC that another one has as well, the sentence says so.
  if (addresses.length === 0 || object === undefined || !isInPlace(object) || message.includes(': the MAC ')) return [];
  if (isOfAnotherAddress(world, message, subnet, addresses)) return [];
  const holders = addressHolders(world).get(subnet);
  const isItsOwn = addresses.every((text) => (holders?.get(text) ?? []).every(({ subject }) => subject === `Vip ${name}`));
  return isItsOwn ? [`address of Vip ${name} is refused (${message}), and nobody else has it`] : [];
}

/** An IP object that is there for the pod has an address that somebody else has too: the sentence is of that one, and not of the Vip's. */
function isOfAnotherAddress(world: World, message: string, subnet: string, addresses: readonly string[]): boolean {
  const shared = [...message.matchAll(/\(([\d.a-f:]+) of Subnet ([\w.-]+)\)/g)].map(([, address = '', of = '']) => ({ address, of }));
  const holders = addressHolders(world);
  return (
    shared.length > 0 &&
    shared.every(({ address, of }) => {
      const ports = new Set((holders.get(of)?.get(address) ?? []).map(({ port }) => port));
      const isGateway = splitList(world.subnets.peek(of)?.spec.gateway ?? '').includes(address);
      return (ports.size > 1 || (ports.size > 0 && isGateway)) && !(of === subnet && addresses.includes(address));
    })
  );
}

/** Vips that a pod declares: it may use the address of one that admits it, and is among its ports, and of no other. */
function vipFaults(world: World, subnet: string, pod: Pod, row: Row, secure: boolean): readonly string[] {
  const { name, namespace = '', annotations = {}, labels = {} } = pod.metadata;
  return splitList(annotations[annotationKey.allowedAddressPairs] ?? '').flatMap((vipName) => {
    const vip = world.vips.peek(vipName);
    const address = vip?.status?.v4ip ?? '';
    if (vip === undefined || vip.metadata.deletionTimestamp !== undefined || vip.spec.subnet !== subnet || address === '') return [];
    if ((vip.status?.type ?? '') !== '' || (vip.spec.type ?? '') !== '' || said(pod, 'virtualmachine') !== '') return [];
    const admits =
      vip.spec.namespace === namespace &&
      (vip.spec.selector ?? []).every((item) => labels[item.slice(0, item.indexOf(':'))] === item.slice(item.indexOf(':') + 1));
    const port = best(world, 'Logical_Switch_Port', vipName);
    const parents = splitList(mapOf(port?.['options']).get('virtual-parents') ?? '');
    const isParent = parents.includes(portName(name, namespace, 'ovn'));
    const guards = textOf(row['port_security']).split(' ').includes(address);
    return [
      ...(port !== undefined && isParent !== admits
        ? [`Vip ${vipName} ${admits ? 'lacks its port' : 'has its port and does not admit it'}`]
        : []),
      ...(secure && guards !== admits ? [`port_security ${guards ? 'has' : 'lacks'} ${address} of Vip ${vipName}`] : []),
    ];
  });
}

/** Two pods run one machine, and one of them is where it goes: OVN is told both places. */
function movingFaults(world: World, pod: Pod, row: Row): readonly string[] {
  const { namespace = '', annotations = {}, labels = {}, uid } = pod.metadata;
  const machine = said(pod, 'virtualmachine');
  if (machine === '' || annotations[annotationKey.migrationJob] === undefined) return [];
  const all = world.pods.peekBucket('instance', `${namespace}/${machine}`);
  const others = [...all].flatMap((key) => world.pods.peek(key) ?? []).filter((one) => one.metadata.uid !== uid);
  const [from] = others;
  if (from === undefined || others.length !== 1 || Object.keys(labels).length > 0 || from.metadata.deletionTimestamp !== undefined)
    return [];
  const moves =
    from.metadata.annotations?.[annotationKey.migrationJob] === undefined &&
    from.metadata.creationTimestamp <= pod.metadata.creationTimestamp;
  const over = from.status?.phase === 'Succeeded' || from.status?.phase === 'Failed';
  const [here, there] = [from.spec.nodeName ?? '', pod.spec.nodeName ?? ''];
  if (!moves || over || here === '' || there === '' || here === there) return [];
  const asked = mapOf(row['options']).get('requested-chassis') ?? '';
  return asked === `${here},${there}` ? [] : [`chassis is ${asked || 'none'} while its machine moves from ${here} to ${there}`];
}

/** Vips that are refused an address which IP objects alone have that were given it as theirs: the pods of these share it with them. */
export function sharedVipFaults(world: World): readonly (readonly [name: string, what: string])[] {
  return [...world.vips.entries()].flatMap(([name, { metadata, spec, status }]) => {
    const refusal = status?.conditions?.find(({ type, reason }) => type === 'Accepted' && reason === 'AddressConflict');
    if (refusal?.status !== 'False' || metadata.deletionTimestamp !== undefined) return [];
    const asked = [spec.v4ip ?? '', spec.v6ip ?? ''].filter((text) => text !== '');
    const holders = addressHolders(world).get(spec.subnet ?? '');
    const all = asked.flatMap((text) => holders?.get(text) ?? []);
    const isOfIt = (port: string): boolean => world.ips.peek(port)?.metadata.annotations?.[kilnAnnotation.vip] === name;
    return all.length > 0 && all.every(({ port }) => isOfIt(port))
      ? [
          [
            name,
            `address ${asked.join()} is refused (${refusal.message ?? ''}), and only those have it who were given it as its own`,
          ] as const,
        ]
      : [];
  });
}
