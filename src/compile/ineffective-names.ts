/**
 * Address sets and port groups that a user's match names without effect: missing ones, and sets whose addresses do not fit the field. OVN
 * ignores the whole match of a missing set, and of one with an address that is wider than the field, such as an IPv6 address for `ip4.src`.
 */
import type { Finding, Subject } from '../api/validation/finding.ts';
import { findingOf } from '../api/validation/finding.ts';
import { namesInMatch, setComparisons } from '../api/values/match-text.ts';
import type { NamedInMatch, SetComparison } from '../api/values/match-text.ts';
import { rowId } from '../nb/row-id.ts';
import type { DeclaredQuery, Query, World } from '../world/world.ts';
import { declareQuery, defineQuery } from '../world/world.ts';

/** Address sets that ovn-northd makes by itself, in the Southbound database. */
const MADE_BY_NORTHD = /^svc_monitor_mac$|rtr_lb_\d+_ip[46]/;
/** For a port group `g`, ovn-northd makes the address sets `g_ip4` and `g_ip6`. */
const OF_PORT_GROUP = /^(.+)_ip[46]$/;
/** Sets of one family, by their names: northd's, and Kiln's. */
const OF_FAMILY = /^(.+)_(?:ip|v)([46])$/;

/** @param field path of the match */
export function ineffectiveNames(world: World, subject: Subject, field: string, match: string): readonly Finding[] {
  return [
    ...namesInMatch(match)
      .filter((named) => !exists(world, named))
      .map((named) => missing(world, subject, { field, value: match }, named)),
    ...setComparisons(match).flatMap((comparison) => unfit(world, subject, { field, value: match }, comparison) ?? []),
  ];
}

type MatchAt = Readonly<Record<'field' | 'value', string>>;

function missing(world: World, subject: Subject, at: MatchAt, { kind, name }: NamedInMatch): Finding {
  const [code, mark, table] =
    kind === 'address set' ? (['AddressSetMissing', '$', 'Address_Set'] as const) : (['PortGroupMissing', '@', 'Port_Group'] as const);
  const instead = kind === 'address set' ? insteadOfMissing(world, name) : undefined;
  return findingOf(subject, {
    code,
    ...at,
    problem: `names ${kind} ${mark}${name}, which does not exist`,
    rule: `the match is valid, and no packet meets it until ${table} ${name} exists${instead === undefined ? '' : `: ${instead}`}`,
  });
}

/** By the name of an address set: which object would have it, and with which setting, as a sentence; undefined if none would. */
export const addressSetOnRequest: DeclaredQuery<string | undefined> = declareQuery('address-set-on-request');

/** Which set was meant: one that an object would have, or the same name for the other family. */
function insteadOfMissing(world: World, name: string): string | undefined {
  const onRequest = world.ask(addressSetOnRequest, name);
  if (onRequest !== undefined) return onRequest;
  const others = siblings(name).filter((one) => exists(world, { kind: 'address set', name: one }));
  if (others.length === 0) return undefined;
  return `there ${others.length === 1 ? 'is address set' : 'are address sets'} ${others.map((one) => `$${one}${familyText(world, one)}`).join(' and ')}`;
}

/** Names of the set of the other family: as OVN, Kiln, and Kube-OVN form them. */
function siblings(name: string): readonly string[] {
  const [, base] = OF_FAMILY.exec(name) ?? [];
  const other = /[46]$/.test(name) ? [name.slice(0, -1) + (name.endsWith('4') ? '6' : '4')] : [];
  return [...other, ...(base === undefined ? [`${name}_ip4`, `${name}_ip6`, `${name}_v6`] : [base, `${base}_v6`])].filter(
    (one) => one !== name,
  );
}

/** Width of an address in a set, in bits. */
type Width = 32 | 48 | 128;

/** Fields that have an address of one kind, so that no other address can equal it. */
const ADDRESS_FIELD = /^(ip[46]|eth)\.(src|dst)$|^r?arp\.|^nd\.(sll|tll|target)$/;

function unfit(world: World, subject: Subject, at: MatchAt, { set, field, bits }: SetComparison): Finding | undefined {
  const widths = world.ask(setWidths, set);
  const widest = Math.max(0, ...widths);
  const ignored = widest > bits;
  if (!ignored && (widths.length === 0 || widths.includes(bits as Width) || !ADDRESS_FIELD.test(field))) return undefined;
  const fitting = siblings(set).find((one) => {
    const its = world.ask(setWidths, one);
    return its.includes(bits as Width) && its.every((width) => width <= bits);
  });
  const has = widths.map((width) => ADDRESSES[width]).join(' and ');
  const effect = ignored ? 'OVN ignores the whole match' : 'no packet matches that';
  const next =
    fitting !== undefined
      ? `name address set $${fitting}`
      : `name an address set with ${addressesOf(bits)} only${otherField(field, widths)}`;
  return findingOf(subject, {
    code: 'AddressSetOtherFamily',
    ...at,
    problem: `compares ${field} with address set $${set}, which has ${has}`,
    rule: `${effect}: ${next}`,
  });
}

const ADDRESSES: Readonly<Record<Width, string>> = { 32: 'IPv4 addresses', 48: 'MAC addresses', 128: 'IPv6 addresses' };
const addressesOf = (bits: number): string => ADDRESSES[bits as Width] ?? `values of ${bits} bits`;

/** The field of the other family, which the set fits. */
function otherField(field: string, widths: readonly Width[]): string {
  const [, family = '', rest = ''] = /^ip([46])(\..+)$/.exec(field) ?? [];
  const other = family === '4' ? 6 : 4;
  const fits = widths.length === 1 && widths[0] === (other === 4 ? 32 : 128);
  return family !== '' && fits ? `, or compare ip${other}${rest} with it` : '';
}

function familyText(world: World, set: string): string {
  const [width, more] = world.ask(setWidths, set);
  return width === undefined || more !== undefined ? '' : ` (${ADDRESSES[width]})`;
}

/** The widths of the addresses in a set, ascending; empty for a set that is empty or missing. Cost: the set, each time that it changes. */
const setWidths: Query<readonly Width[]> = defineQuery('address-set-widths', (world, name) => {
  const id = rowId('Address_Set', name);
  const row = world.rows.state(id);
  const [, base, family] = OF_FAMILY.exec(name) ?? [];
  const [, group] = OF_PORT_GROUP.exec(name) ?? [];
  const byName: readonly Width[] = [family === '6' ? 128 : 32];
  if (row === undefined) return group !== undefined && world.rows.state(rowId('Port_Group', group)) !== undefined ? byName : [];
  // Our own sets with such a name have one family: theirs change with every pod.
  if (row.ownership.kind === 'ours' && base !== undefined) return byName;
  const held = world.rows.column(id, 'addresses');
  const widths = new Set(held instanceof Set ? Array.from(held, (one) => widthOf(String(one))) : []);
  return [...widths].toSorted((a, b) => a - b);
});

function widthOf(address: string): Width {
  if (!address.includes(':')) return 32;
  return /^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(address) ? 48 : 128;
}

function exists(world: World, { kind, name }: NamedInMatch): boolean {
  const isThere = (table: string, key: string): boolean => world.rows.state(rowId(table, key)) !== undefined;
  if (kind === 'port group') return isThere('Port_Group', name);
  const [, group] = OF_PORT_GROUP.exec(name) ?? [];
  return isThere('Address_Set', name) || MADE_BY_NORTHD.test(name) || (group !== undefined && isThere('Port_Group', group));
}
