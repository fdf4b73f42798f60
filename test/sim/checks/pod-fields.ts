/**
 * The port of each pod in use is as its annotations and its Subnet ask; and a pod with a condition that reports what it cannot have does
 * not have it. Like `specs-in-effect.ts`, this uses no rule.
 */
import { portName } from '../../../src/api/names.ts';
import type { Pod } from '../../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { annotationKey, POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { parseAddress } from '../../../src/net/address.ts';
import type { Cidr } from '../../../src/net/cidr.ts';
import { cidrContains, cidrCovers, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { Row } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import { requestFaults, portFaults } from './port-fields.ts';
import { best, mapOf, ovnAnnotation, sorted, textOf } from './observed-state.ts';

/** The port of a pod that has its network and no condition against it. */
export function podFaults(world: World, subnet: string, object: Subnet, pod: Pod): readonly string[] {
  const { spec } = object;
  const { name, namespace = '', annotations = {} } = pod.metadata;
  if (ovnAnnotation(pod, 'allocated') !== 'true' || !runs(pod) || isReported(pod)) return [];
  const machine = ovnAnnotation(pod, 'virtualmachine');
  const row = best(world, 'Logical_Switch_Port', portName(machine === '' ? name : machine, namespace, 'ovn'));
  if (row === undefined) return [];
  const addresses = splitList(ovnAnnotation(pod, 'ip_address'));
  const cidrs = splitList(spec.cidrBlock ?? '').flatMap((text) => parseCidr(text) ?? []);
  const isIn = addresses.every((text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
  });
  if (!isIn) return [];
  const network = (['cidr', 'gateway'] as const).flatMap((suffix) => {
    const expected = suffix === 'cidr' ? spec.cidrBlock : spec.gateway;
    return sorted(ovnAnnotation(pod, suffix)) === sorted(expected ?? '') || (suffix === 'cidr' && hasSmallerMasks(pod, addresses, cidrs))
      ? []
      : [`${suffix} in its annotations is ${ovnAnnotation(pod, suffix)}, and not ${expected ?? ''}`];
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
  const secure = world.settings.tenancy === 'namespaced' || ovnAnnotation(pod, 'port_security') === 'true';
  const guarded = textOf(row['port_security']);
  const security =
    secure && !addresses.every((text) => guarded.includes(text))
      ? [`port_security is ${guarded || 'off'}`]
      : !secure && guarded !== ''
        ? [`port_security is ${guarded}, and it requests none`]
        : [];
  const nodes = machine === '' ? [pod.spec.nodeName ?? ''] : [];
  const recorded = world.ips.peek(portName(name, namespace, 'ovn'))?.spec.nodeName ?? '';
  const nodeFaults =
    nodes.length === 0 || nodes.includes(recorded) ? [] : [`IP object has node ${recorded || 'none'}, and it is on ${nodes.join('')}`];
  return [
    ...nodeFaults,
    ...network,
    ...dhcp,
    ...security,
    ...vipFaults(world, subnet, pod, row, secure),
    ...portFaults(world, subnet, object, pod, row),
    ...requestFaults(pod),
  ];
}

/** A pod from before its Subnet became wider has smaller masks, with its address and gateway. */
function hasSmallerMasks(pod: Pod, addresses: readonly string[], cidrs: readonly Cidr[]): boolean {
  const masks = splitList(ovnAnnotation(pod, 'cidr')).flatMap((text) => parseCidr(text) ?? []);
  const within = [...addresses, ...splitList(ovnAnnotation(pod, 'gateway'))].flatMap((text) => parseAddress(text) ?? []);
  return (
    masks.length === cidrs.length &&
    masks.every((mask) => cidrs.some((cidr) => cidr.family === mask.family && cidrCovers(cidr, mask))) &&
    within.every((address) => !masks.some(({ family }) => family === address.family) || masks.some((mask) => cidrContains(mask, address)))
  );
}

/** Its address is in the network of its annotations, even if its Subnet has another network since. */
export function networkFaults(pod: Pod): readonly string[] {
  if (ovnAnnotation(pod, 'allocated') !== 'true' || !runs(pod)) return [];
  const cidrs = splitList(ovnAnnotation(pod, 'cidr')).flatMap((text) => parseCidr(text) ?? []);
  return splitList(ovnAnnotation(pod, 'ip_address')).flatMap((text) => {
    const address = parseAddress(text);
    const isIn =
      address === undefined || cidrs.length === 0 || cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
    return isIn ? [] : [`network in its annotations is ${ovnAnnotation(pod, 'cidr')}, and its address ${text}`];
  });
}

/** Two running pods have one MAC in one network, and neither has a condition that reports it. */
export function sharedMacs(pods: readonly (readonly [string, Pod])[]): readonly string[] {
  const byMac = new Map<string, string>();
  return pods.flatMap(([key, pod]) => {
    const mac = ovnAnnotation(pod, 'mac_address');
    if (
      mac === '' ||
      ovnAnnotation(pod, 'allocated') !== 'true' ||
      !runs(pod) ||
      isReported(pod) ||
      ovnAnnotation(pod, 'virtualmachine') !== ''
    )
      return [];
    const other = byMac.get(mac);
    byMac.set(mac, key);
    return other === undefined ? [] : [`MAC ${mac} is that of Pod ${other} and of Pod ${key}`];
  });
}

function runs({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

function isReported({ status }: Pod): boolean {
  return status?.conditions?.some((one) => one.type === POD_CONDITION && one.status !== 'True') === true;
}

/** Vips that a pod declares: it may use the address of each one that admits it, is among that Vip's ports, and may use no other. */
function vipFaults(world: World, subnet: string, pod: Pod, row: Row, secure: boolean): readonly string[] {
  const { name, namespace = '', annotations = {}, labels = {} } = pod.metadata;
  return splitList(annotations[annotationKey.allowedAddressPairs] ?? '').flatMap((vipName) => {
    const vip = world.vips.peek(vipName);
    const address = vip?.status?.v4ip ?? '';
    if (vip === undefined || vip.metadata.deletionTimestamp !== undefined || vip.spec.subnet !== subnet || address === '') return [];
    if ((vip.status?.type ?? '') !== '' || (vip.spec.type ?? '') !== '' || ovnAnnotation(pod, 'virtualmachine') !== '') return [];
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
