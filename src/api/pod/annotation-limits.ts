/**
 * How much of an annotation of a pod Kiln reads. A tenant writes these as often as it likes, and every tenant's pods wait behind the work:
 * a list that is longer is refused before its items are read, and nothing of it is in effect.
 */
import { READ_POD_ANNOTATIONS } from '../annotations.ts';
import { splitList } from '../../net/dual.ts';
import type { Reason } from '../reasons.ts';
import { annotationKey } from '../well-known.ts';

/** Characters of any annotation. */
export const LONGEST_ANNOTATION = 64 * 1024;
/** Interfaces that the annotations of a pod attach. */
export const MOST_NETWORKS = 32;
/** Addresses that a list names to be given one of. */
export const MOST_ADDRESSES = 256;
/** Interfaces that the annotations of a pod say are allocated: those it attaches, and others that it had. */
export const MOST_CLAIMS = 64;
export const MOST_PORT_VIPS = 64;
export const MOST_NAMES = 32;
export const MOST_ROUTES = 256;
/** Characters of DHCP options. */
export const LONGEST_DHCP_OPTIONS = 4 * 1024;

/** How a value is too much: both read on after the quoted value. */
export interface Excess {
  readonly code: Reason;
  readonly problem: string;
  readonly rule: string;
}

interface Limit {
  readonly code: Reason;
  /** Items, or characters where `items` says nothing. */
  readonly most: number;
  readonly what: string;
  readonly items?: (text: string) => number;
}

const ADDRESSES = { most: MOST_ADDRESSES, what: 'addresses' };
const OPTIONS: Limit = { code: 'PodDhcpOptionsInvalid', most: LONGEST_DHCP_OPTIONS, what: 'characters of DHCP options' };

/** By the part of the key behind the provider. */
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
/** The lists of networks are judged where they are parsed. */
const UNSCOPED: ReadonlySet<string> = new Set([
  annotationKey.northGateway,
  annotationKey.vip,
  annotationKey.allowedAddressPairs,
  annotationKey.podEip,
  annotationKey.podSnat,
]);

/** @param suffix part of the key behind the provider */
export function annotationExcess(key: string, suffix: string, value: string): Excess | undefined {
  const ofVips = key === annotationKey.allowedAddressPairs || key === annotationKey.vip;
  if (!ofVips && !READ.has(suffix) && !UNSCOPED.has(key)) return undefined;
  return (ofVips ? excess(value, VIP_NAMES) : suffixExcess(suffix, value)) ?? tooLong(value);
}

/** What rules read of an annotation of an interface: nothing of one that is too much. */
export const readable = (suffix: string, value: string): string =>
  value.length > LONGEST_ANNOTATION || suffixExcess(suffix, value) !== undefined ? '' : value;

/** The Vips that annotation `vip` or `aaps` names. */
export const vipNames = (value: string): readonly string[] =>
  value.length > LONGEST_ANNOTATION || excess(value, VIP_NAMES) !== undefined ? [] : splitList(value);

function suffixExcess(suffix: string, value: string): Excess | undefined {
  const limit = LIMITS.get(suffix);
  return limit === undefined ? undefined : excess(value, limit);
}

function excess(value: string, { code, most, what, items }: Limit): Excess | undefined {
  // Of every pod in every run: as many items do not fit into fewer characters.
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

/** Pairs are behind `;`, each of two addresses at most. */
function pairsListed(text: string): number {
  const [pairs, singles] = [count(text, ';') + 1, count(text, ',') + 1];
  return pairs === 1 ? singles : Math.max(pairs, Math.ceil((pairs + singles - 1) / 2));
}

/** Nothing is made of the text. */
function count(text: string, separator: string): number {
  let found = 0;
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + 1)) found += 1;
  return found;
}
