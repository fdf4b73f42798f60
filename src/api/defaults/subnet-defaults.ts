/**
 * The defaults that Kube-OVN's controller writes into a Subnet's spec (its `formatSubnet`); printer columns and node agents read them
 * there: canonical networks, gateway, protocol, provider, Vpc, gateway type and excluded addresses.
 */

import { compareAddresses, formatAddress } from '../../net/address.ts';
import { cidrContains, firstUsable } from '../../net/cidr.ts';
import { formatDualAddress, formatDualCidr, mapDual, ofFamily, parseDualAddress, parseDualCidr, protocolOf } from '../../net/dual.ts';
import type { Dual } from '../../net/dual.ts';
import type { Address } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { parseRange } from '../../net/range.ts';
import type { AddressRange } from '../../net/range.ts';
import { isOvnProvider } from '../names.ts';
import type { SubnetSpec } from '../kinds/subnet.ts';
import { DEFAULT_PROVIDER, DEFAULT_SUBNET, DEFAULT_VPC, JOIN_SUBNET } from '../well-known.ts';

/** The cluster settings that affect Subnets. */
export interface SubnetSettings {
  readonly defaultVpc: string;
  readonly defaultSubnet: string;
  readonly joinSubnet: string;
  readonly enableLb: boolean;
}

export const defaultSubnetSettings: SubnetSettings = {
  defaultVpc: DEFAULT_VPC,
  defaultSubnet: DEFAULT_SUBNET,
  joinSubnet: JOIN_SUBNET,
  enableLb: true,
};

/** The name and spec of a Subnet. */
export interface NamedSubnet {
  readonly name: string;
  readonly spec: SubnetSpec;
}

/** Fields to change; null removes a field, as in a merge patch. */
export type SubnetDefaults = { readonly [K in keyof SubnetSpec]?: SubnetSpec[K] | null };

/** True for an underlay Subnet without addresses: its ports have a MAC only. */
export const isMacOnly = (spec: SubnetSpec): boolean => (spec.vlan ?? '') !== '' && (spec.cidrBlock ?? '').trim() === '';

/** The provider of a Subnet, explicit or by default. */
export const effectiveProvider = (spec: SubnetSpec): string => spec.provider || DEFAULT_PROVIDER;

/** The Vpc of a Subnet, explicit or by default; empty if OVN does not implement the Subnet. */
export const effectiveVpc = (spec: SubnetSpec, settings: Pick<SubnetSettings, 'defaultVpc'>): string =>
  spec.vpc || (isOvnProvider(effectiveProvider(spec)) ? settings.defaultVpc : '');

/** The networks of a Subnet; neither family if the text is not a network. */
export const subnetCidrs = (spec: SubnetSpec): Dual<Cidr> => dualOf(parseDualCidr(spec.cidrBlock ?? ''));

const dualOf = <T>(result: ({ readonly ok: true } & Dual<T>) | { readonly ok: false }): Dual<T> =>
  result.ok ? mapDual(result, (value) => value) : {};

/** The configured gateways, and the first usable address for a family without one; undefined if a gateway is invalid. */
const gatewaysOf = (spec: SubnetSpec, cidrs: Dual<Cidr>): Dual<Address> | undefined => {
  const text = (spec.gateway ?? '').trim();
  const specified = text === '' ? { ok: true as const } : parseDualAddress(text);
  if (!specified.ok) return undefined;
  for (const gateway of [specified.v4, specified.v6]) {
    if (gateway === undefined) continue;
    const cidr = ofFamily(cidrs, gateway.family);
    if (cidr === undefined || !cidrContains(cidr, gateway)) return undefined;
  }
  return { ...mapDual(cidrs, firstUsable), ...dualOf(specified) };
};

const overlaps = (a: AddressRange, b: AddressRange): boolean => a.family === b.family && a.first <= b.last && b.first <= a.last;

/** The missing booleans that Kube-OVN writes as `false`: printer columns show them. Missing and `false` mean the same. */
const switchesOff = (spec: SubnetSpec, isDefault: boolean): SubnetDefaults => ({
  ...(spec.private === undefined && { private: false }),
  ...(spec.natOutgoing === undefined && { natOutgoing: false }),
  ...(spec.default === undefined && !isDefault && { default: false }),
});

/** Kube-OVN's spelling in `excludeIps`. */
const rangeText = ({ family, first, last }: AddressRange): string => {
  const text = formatAddress({ family, value: first });
  return first === last ? text : `${text}..${formatAddress({ family, value: last })}`;
};

/** Sorted, with overlapping ranges merged; adjacent ranges stay separate, as the user wrote them. */
const merged = (ranges: readonly AddressRange[]): AddressRange[] => {
  const sorted = ranges.toSorted((a, b) => compareAddresses({ family: a.family, value: a.first }, { family: b.family, value: b.first }));
  const out: AddressRange[] = [];
  for (const range of sorted) {
    const previous = out.at(-1);
    if (previous !== undefined && overlaps(previous, range))
      out[out.length - 1] = { ...previous, last: range.last > previous.last ? range.last : previous.last };
    else out.push(range);
  }
  return out;
};

/**
 * `excludeIps` with the gateways added. Undefined if it needs no change: every gateway is excluded, no address appears twice, and every
 * item is canonical, in any order. Validation reports an item that is not a range; then the list is not changed.
 */
const excludedIps = (specified: readonly string[], gateways: Dual<Address>): readonly string[] | undefined => {
  const ranges: AddressRange[] = [];
  for (const item of specified) {
    const range = parseRange(item);
    if (range === undefined) return undefined;
    ranges.push(range);
  }
  for (const gateway of [gateways.v4, gateways.v6])
    if (gateway !== undefined) ranges.push({ family: gateway.family, first: gateway.value, last: gateway.value });
  const desired = merged(ranges).map(rangeText);
  const have = new Set(specified);
  return have.size === specified.length && desired.length === specified.length && desired.every((item) => have.has(item))
    ? undefined
    : desired;
};

/**
 * The changes that make a Subnet's spec complete and canonical; empty if it already is.
 * @param applied fields of the spec that a client owns by server-side apply. If `excludeIps` is among them, it is not changed, since the
 *   client's next apply would end in a conflict. The allocator never allocates the gateway, whether it is listed or not. The other fields
 *   are changed all the same: node agents read them as they are. Missing booleans are not filled in if the client owns any field: the first
 *   apply with `private: true` would end in a conflict with a `false` that means nothing
 */
export const subnetDefaults = ({ name, spec }: NamedSubnet, settings: SubnetSettings, applied: readonly string[] = []): SubnetDefaults => {
  const cidrs = subnetCidrs(spec);
  const protocol = isMacOnly(spec) ? 'Mac' : protocolOf(cidrs);
  const provider = effectiveProvider(spec);
  const vpc = effectiveVpc(spec, settings);
  const isJoin = name === settings.joinSubnet;
  const isDefault = name === settings.defaultSubnet && vpc === settings.defaultVpc;
  const gateways = protocol === undefined || protocol === 'Mac' ? undefined : gatewaysOf(spec, cidrs);
  const excluded = gateways && !applied.includes('excludeIps') ? excludedIps(spec.excludeIps ?? [], gateways) : undefined;

  const desired: SubnetDefaults = {
    ...(protocol !== undefined && { protocol }),
    ...(protocol !== undefined && protocol !== 'Mac' && { cidrBlock: formatDualCidr(cidrs) }),
    ...(gateways && { gateway: formatDualAddress(gateways) }),
    ...(excluded && { excludeIps: excluded }),
    provider,
    ...(vpc !== '' && { vpc }),
    ...(vpc === settings.defaultVpc && !isJoin && (spec.gatewayType ?? '') === '' && { gatewayType: 'distributed' }),
    ...(spec.default === true && !isDefault && { default: false }),
    ...(applied.length === 0 && switchesOff(spec, isDefault)),
    ...(!isJoin && spec.enableLb === undefined && { enableLb: settings.enableLb }),
    ...(isJoin && spec.enableLb !== undefined && { enableLb: null }),
  };
  return Object.fromEntries(
    Object.entries(desired).filter(([field, value]) => (spec as Readonly<Record<string, unknown>>)[field] !== value),
  );
};

/** The spec with the changes of `subnetDefaults`. */
export const withSubnetDefaults = (subnet: NamedSubnet, settings: SubnetSettings, applied: readonly string[] = []): SubnetSpec =>
  Object.fromEntries(
    Object.entries({ ...subnet.spec, ...subnetDefaults(subnet, settings, applied) }).filter(([, value]) => value !== null),
  );
