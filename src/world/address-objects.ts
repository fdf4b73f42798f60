/**
 * Vips and EIPs: objects that have addresses themselves, not through an interface. One form for all kinds, which the ledger, the allocator
 * and the checks read alike.
 */
import type { IptablesEIP } from '../api/kinds/iptables-eip.ts';
import type { Condition, Labels, ObjectMeta } from '../api/kubernetes/meta.ts';
import type { OvnEip } from '../api/kinds/ovn-eip.ts';
import type { Vip } from '../api/kinds/vip.ts';
import { FINALIZER, labelKey, LEGACY_FINALIZERS, NAT_GATEWAY_SUBNET } from '../api/well-known.ts';
import { allocatedAddressesIn } from './allocated-addresses.ts';
import type { ResourceOfFamily } from './resources.ts';
import { resourcesOfFamily } from './resources.ts';
import type { Settings } from './settings.ts';

export type AddressResource = ResourceOfFamily<'address object'>;
export const ADDRESS_RESOURCES: readonly AddressResource[] = resourcesOfFamily('address object');

/** Addresses as text; empty for none. */
export interface AddressTexts {
  readonly v4: string;
  readonly v6: string;
  readonly mac: string;
}

export interface AddressObject {
  readonly resource: AddressResource;
  readonly kind: 'Vip' | 'OvnEip' | 'IptablesEIP';
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly conditions: readonly Condition[];
  /** The Subnet of its addresses once it has addresses, else the Subnet that its spec requests, or the default one. */
  readonly subnet: string;
  /** The Subnet that its spec names; empty where it leaves that to a default. */
  readonly requestedSubnet: string;
  /** From the spec; empty for any. */
  readonly type: string;
  /** The type that it had when it got its address; undefined before that. */
  readonly typeInEffect: string | undefined;
  /** The addresses that the spec requests; empty for any. */
  readonly requested: AddressTexts;
  /** The addresses that it holds; undefined until they are written into the object. */
  readonly held: AddressTexts | undefined;
}

export function isAddressResource(resource: string): resource is AddressResource {
  return (ADDRESS_RESOURCES as readonly string[]).includes(resource);
}

export function vipAddresses({ metadata, spec, status }: Vip): AddressObject {
  const requested = texts(spec.v4ip, spec.v6ip, spec.macAddress);
  const shown = texts(status?.v4ip, status?.v6ip, status?.mac);
  return addressObject('vips', 'Vip', metadata, requested, shown, {
    requestedSubnet: spec.subnet ?? '',
    otherwise: '',
    type: spec.type ?? '',
    typeInEffect: has(shown) ? (status?.type ?? '') : (spec.type ?? ''),
    conditions: status?.conditions ?? [],
  });
}

export function ovnEipAddresses({ metadata, spec, status }: OvnEip, { externalSubnet }: Settings): AddressObject {
  const requested = texts(spec.v4Ip, spec.v6Ip, spec.macAddress);
  return addressObject('ovn-eips', 'OvnEip', metadata, requested, texts(status?.v4Ip, status?.v6Ip, status?.macAddress), {
    requestedSubnet: spec.externalSubnet ?? '',
    otherwise: externalSubnet,
    type: orElse(spec.type, 'nat'),
    typeInEffect: orElse(status?.type, orElse(spec.type, 'nat')),
    conditions: status?.conditions ?? [],
  });
}

/** The status has no MAC: the one in the spec is in use. */
export function iptablesEipAddresses({ metadata, spec, status }: IptablesEIP): AddressObject {
  const requested = texts(spec.v4ip, spec.v6ip, spec.macAddress);
  return addressObject('iptables-eips', 'IptablesEIP', metadata, requested, texts(status?.ip, '', spec.macAddress), {
    requestedSubnet: spec.externalSubnet ?? '',
    otherwise: NAT_GATEWAY_SUBNET,
    type: '',
    typeInEffect: '',
    conditions: status?.conditions ?? [],
  });
}

/** Kind and name: one claimant for the object, its port and the NAT rules that use it. */
export function claimantOfObject(kind: AddressObject['kind'], name: string): string {
  return `${kind} ${name}`;
}

/** A Vip of this type has the MAC of its Subnet's router port, and none of its own. */
export function hasRouterMac(type: string): boolean {
  return type === 'switch_lb_vip';
}

/** The group in which a Vip shares its address: the Vip and the pod that uses the address hold it together. */
export function vipSharingGroup(vip: string): string {
  return `vip/${vip}`;
}

function addressObject(
  resource: AddressResource,
  kind: AddressObject['kind'],
  metadata: ObjectMeta,
  requested: AddressTexts,
  shown: AddressTexts,
  {
    otherwise,
    ...fields
  }: Pick<AddressObject, 'requestedSubnet' | 'type' | 'typeInEffect' | 'conditions'> & { readonly otherwise: string },
): AddressObject {
  const { name, uid, creationTimestamp, deletionTimestamp, labels = {}, annotations = {}, finalizers = [] } = metadata;
  const allocated = allocatedAddressesIn(annotations, uid);
  const held =
    allocated === undefined
      ? heldWithoutAnnotation(finalizers, requested, shown)
      : { v4: allocated.v4, v6: allocated.v6, mac: allocated.mac };
  const home = allocated?.subnet ?? (held === undefined ? '' : (labels[labelKey.subnet] ?? ''));
  return {
    resource,
    kind,
    name,
    uid,
    created: creationTimestamp,
    terminating: deletionTimestamp !== undefined,
    labels,
    annotations,
    ...fields,
    typeInEffect: held === undefined ? undefined : (allocated?.type ?? fields.typeInEffect),
    subnet: orElse(home, orElse(fields.requestedSubnet, otherwise)),
    requested,
    held,
  };
}

/**
 * The addresses of an object that Kube-OVN completed, maybe not fully yet: Kube-OVN writes spec and finalizer together, and the status
 * afterwards. A status without the finalizer came with a manifest.
 */
function heldWithoutAnnotation(finalizers: readonly string[], requested: AddressTexts, shown: AddressTexts): AddressTexts | undefined {
  const taken = finalizers.some((one) => one === FINALIZER || LEGACY_FINALIZERS.includes(one));
  if (taken && has(shown)) return shown;
  return finalizers.includes(FINALIZER) && has(requested) ? requested : undefined;
}

function has({ v4, v6 }: AddressTexts): boolean {
  return v4 !== '' || v6 !== '';
}

function texts(v4: string | undefined, v6: string | undefined, mac: string | undefined): AddressTexts {
  return { v4: v4 ?? '', v6: v6 ?? '', mac: mac ?? '' };
}

function orElse(text: string | undefined, otherwise: string): string {
  return text === undefined || text === '' ? otherwise : text;
}
