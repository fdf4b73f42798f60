/**
 * Vips and EIPs: objects that have addresses themselves, not through an interface. One form for all kinds, which the ledger, the allocator
 * and the checks read alike.
 */
import type { Condition, Labels, ObjectMeta } from '../api/kubernetes/meta.ts';
import { FINALIZER, labelKey, LEGACY_FINALIZERS } from '../api/well-known.ts';
import { allocatedAddressesIn, areAddresses } from './allocated-addresses.ts';
import type { ResourceOfFamily } from './resources.ts';
import { resourceOfKind, resourcesOfFamily, traitsOf } from './resources.ts';

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
  readonly kind: string;
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
  /** The group in which it shares its address with others; undefined if it does not. */
  readonly sharingGroup?: string;
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

/** Kind and name: one claimant for the object, its port and the NAT rules that use it. */
export function claimantOfObject(kind: string, name: string): string {
  return `${kind} ${name}`;
}

/** The claimant of the object in an owner text; undefined for other kinds. */
export function claimantOfOwner(owner: string): string | undefined {
  const at = owner.indexOf('//');
  const resource = at === -1 ? undefined : resourceOfKind(owner.slice(0, at));
  if (resource === undefined || !isAddressResource(resource)) return undefined;
  return claimantOfObject(traitsOf(resource).kind, owner.slice(at + 2));
}

/** A Vip of this type has the MAC of its Subnet's router port, and none of its own. */
export function hasRouterMac(type: string): boolean {
  return type === 'switch_lb_vip';
}

/** The group in which a Vip shares its address: the Vip and the pod that uses the address hold it together. */
export function vipSharingGroup(vip: string): string {
  return `vip/${vip}`;
}

/**
 * @param requested the addresses in the spec
 * @param shown those in the status
 */
export function addressObject(
  resource: AddressResource,
  metadata: ObjectMeta,
  requested: AddressTexts,
  shown: AddressTexts,
  {
    otherwise,
    ...fields
  }: Pick<AddressObject, 'requestedSubnet' | 'sharingGroup' | 'type' | 'typeInEffect' | 'conditions'> & {
    /** The Subnet of an object that names none. */
    readonly otherwise: string;
  },
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
    kind: traitsOf(resource).kind,
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
  if (taken && areAddresses(shown.v4, shown.v6)) return shown;
  return finalizers.includes(FINALIZER) && areAddresses(requested.v4, requested.v6) ? requested : undefined;
}

export function hasAddress({ v4, v6 }: AddressTexts): boolean {
  return v4 !== '' || v6 !== '';
}

/** Undefined texts are empty. */
export function addressTexts(v4: string | undefined, v6: string | undefined, mac: string | undefined): AddressTexts {
  return { v4: v4 ?? '', v6: v6 ?? '', mac: mac ?? '' };
}

/** The text, or another one if it is empty. */
export function orElse(text: string | undefined, otherwise: string): string {
  return text === undefined || text === '' ? otherwise : text;
}
