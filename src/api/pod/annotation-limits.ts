/**
 * Limits of the pod annotations that Kiln reads. A tenant can write them at any rate, and the pods of all tenants wait while Kiln parses
 * them. Kiln rejects a longer list before it parses the items, and ignores all of it.
 */
import { READ_POD_ANNOTATIONS } from '../annotations.ts';
import { splitList } from '../../net/dual.ts';
import type { Reason } from '../reasons.ts';
import { annotationKey } from '../well-known.ts';

/** Characters of any annotation. */
export const LONGEST_ANNOTATION = 64 * 1024;
/** Interfaces that a pod's annotations attach. */
export const MOST_NETWORKS = 32;
/** Addresses in a list of candidates. */
export const MOST_ADDRESSES = 256;
/** Interfaces that a pod's annotations mark as allocated: present and former ones. */
export const MOST_CLAIMS = 64;
export const MOST_PORT_VIPS = 64;
export const MOST_NAMES = 32;
export const MOST_ROUTES = 256;
/** Characters of DHCP options. */
export const LONGEST_DHCP_OPTIONS = 4 * 1024;

/** How a value exceeds its limit: both texts continue a sentence after the quoted value. */
export interface Excess {
  readonly code: Reason;
  readonly problem: string;
  readonly rule: string;
}

interface Limit {
  readonly code: Reason;
  /** Maximum number of items; of characters if `items` is absent. */
  readonly most: number;
  readonly what: string;
  readonly items?: (text: string) => number;
}

const ADDRESSES = { most: MOST_ADDRESSES, what: 'addresses' };
const OPTIONS: Limit = { code: 'PodDhcpOptionsInvalid', most: LONGEST_DHCP_OPTIONS, what: 'characters of DHCP options' };

/** Keyed by the part of the annotation key after the provider. */
const LIMITS: ReadonlyMap<string, Limit> = new Map<string, Limit>([
  ['port_vips', { code: 'PodPortVipsInvalid', most: MOST_PORT_VIPS, what: 'addresses', items: listed }],
  ['ip_address', { code: 'PodIpAddressInvalid', ...ADDRESSES, items: listed }],
  ['ip_pool', { code: 'PodIpPoolInvalid', ...ADDRESSES, what: 'addresses, or names an IPPool', items: pairsListed }],
  ['security_groups', { code: 'PodSecurityGroupsInvalid', most: MOST_NAMES, what: 'names of SecurityGroups', items: listed }],
  ['dhcp-v4-options', OPTIONS],
  ['dhcp-v6-options', OPTIONS],
]);

const VIP_NAMES: Limit = { code: 'InvalidAnnotation', most: MOST_NAMES, what: 'names of Vips', items: listed };

const READ: ReadonlySet<string> = new Set(READ_POD_ANNOTATIONS);
/** The parser of the network lists checks these. */
const UNSCOPED: ReadonlySet<string> = new Set([
  annotationKey.northGateway,
  annotationKey.vip,
  annotationKey.allowedAddressPairs,
  annotationKey.podEip,
  annotationKey.podSnat,
]);

/** @param suffix part of the key after the provider */
export function annotationExcess(key: string, suffix: string, value: string): Excess | undefined {
  const ofVips = key === annotationKey.allowedAddressPairs || key === annotationKey.vip;
  if (!ofVips && !READ.has(suffix) && !UNSCOPED.has(key)) return undefined;
  return (ofVips ? excess(value, VIP_NAMES) : suffixExcess(suffix, value)) ?? tooLong(value);
}

/** The value that rules read of an interface annotation; empty if it exceeds its limit. */
export const readable = (suffix: string, value: string): string =>
  value.length > LONGEST_ANNOTATION || suffixExcess(suffix, value) !== undefined ? '' : value;

/** The Vip names in annotation `vip` or `aaps`. */
export const vipNames = (value: string): readonly string[] =>
  value.length > LONGEST_ANNOTATION || excess(value, VIP_NAMES) !== undefined ? [] : splitList(value);

function suffixExcess(suffix: string, value: string): Excess | undefined {
  const limit = LIMITS.get(suffix);
  return limit === undefined ? undefined : excess(value, limit);
}

function excess(value: string, { code, most, what, items }: Limit): Excess | undefined {
  // A quick check, since this runs for every pod in every run: more than `most` items need more than `most` characters.
  if (value.length <= most) return undefined;
  const has = items === undefined ? value.length : items(value);
  if (has <= most) return undefined;
  return { code, problem: `has ${has} ${items === undefined ? 'characters' : 'items'}`, rule: `it has at most ${most} ${what}` };
}

function tooLong(value: string): Excess | undefined {
  if (value.length <= LONGEST_ANNOTATION) return undefined;
  return {
    code: 'InvalidAnnotation',
    problem: `has ${value.length} characters`,
    rule: `an annotation that Kiln reads has at most ${LONGEST_ANNOTATION} characters`,
  };
}

function listed(text: string): number {
  return count(text, ',') + 1;
}

/** `;` separates pairs, each with at most two addresses. */
function pairsListed(text: string): number {
  const [pairs, singles] = [count(text, ';') + 1, count(text, ',') + 1];
  return pairs === 1 ? singles : Math.max(pairs, Math.ceil((pairs + singles - 1) / 2));
}

/** Counts without creating substrings. */
function count(text: string, separator: string): number {
  let found = 0;
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + 1)) found += 1;
  return found;
}
