/**
 * Filters texts for an archive that users or other programs wrote: by their format, independent of the field's name.
 * Kiln's own text around them stays.
 */
import { REASONS } from '../../api/reasons.ts';
import { parseAddress } from '../../net/address.ts';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { parseMac } from '../../net/mac.ts';
import { parseRange } from '../../net/range.ts';
import { matchProblem } from '../../match-language/match-problem.ts';
import { TABLES } from '../../nb/tables.ts';
import { withheld, withPlainWords } from '../../text/plain-words.ts';
import { RESOURCES } from '../../world/resources.ts';

/** Names and namespaces of the archived objects, and names of Kiln's rows. */
export type KnownNames = ReadonlySet<string>;

/** The length of a pod annotation with a hundred routes. */
const LONGEST = 8_192;
const DURATION = /^(?:\d{1,8}(?:\.\d{1,3})?(?:ms|s|m|h|d)){1,4}$/;
const NUMBER = /^-?\d{1,10}(?:\.\d{1,4})?$/;
const UID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,23}$/;
/** Values that the contract lists. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'true false on off ipv4 ipv6 IPv4 IPv6 dual Dual veth-pair offload-port internal-port dpdk-port vhost-user-port report rebind evict ' +
    'namespace ovn default distributed centralized drop reject pass allow allow-related allow-stateless to-lport from-lport ' +
    'router unknown dynamic localnet external virtual nexthop reroute snat dnat dnat_and_snat src-ip dst-ip tcp udp sctp ' +
    'BFD Overlay Underlay Geneve Active Ready True False Unknown'
  ).split(' '),
);

/**
 * The text if it has a format of the contract, or is a match, a list or a JSON document of such texts; otherwise its
 * length.
 */
export function archivedText(text: string, names: KnownNames): string {
  return isAllowed(text, names) ? text : (archivedMatch(text, names) ?? withheld(text));
}

function isAllowed(text: string, names: KnownNames): boolean {
  if (text.length > LONGEST) return false;
  if (/^\s*[[{]/.test(text)) {
    try {
      return isAllowedValue(JSON.parse(text), names, 0);
    } catch {
      return false;
    }
  }
  return text.split(/[\s,;]+/).every((part) => part === '' || isAllowedPart(part, names));
}

function isAllowedPart(part: string, names: KnownNames): boolean {
  return (
    WORDS.has(part) ||
    names.has(part) ||
    [NUMBER, DURATION, UID, DATE].some((shape) => shape.test(part)) ||
    parseAddress(part) !== undefined ||
    parseInterfaceAddress(part) !== undefined ||
    parseMac(part) !== undefined ||
    parseRange(part) !== undefined ||
    isOfNames(part, names)
  );
}

/** `namespace/name`, `name.namespace`, `name.namespace.ovn`. */
function isOfNames(part: string, names: KnownNames): boolean {
  if (part.length > 512 || !/[/.]/.test(part)) return false;
  const [first = '', second = '', ...more] = part.split('/');
  if (part.includes('/')) return more.length === 0 && names.has(first) && names.has(second);
  const words = (part.endsWith('.ovn') ? part.slice(0, -4) : part).split('.');
  return words.some((_, at) => at > 0 && names.has(words.slice(0, at).join('.')) && names.has(words.slice(at).join('.')));
}

function isAllowedValue(value: unknown, names: KnownNames, depth: number): boolean {
  if (typeof value === 'string') return value === '' || (!/^\s*[[{]/.test(value) && isAllowed(value, names));
  if (typeof value !== 'object' || value === null) return String(value).length <= 12;
  if (depth > 4) return false;
  if (Array.isArray(value)) return value.every((one) => isAllowedValue(one, names, depth + 1));
  return Object.entries(value).every(([key, one]) => FIELD.test(key) && isAllowedValue(one, names, depth + 1));
}

const OPENING = /^[A-Za-z_]+/;
const BEGINNINGS: ReadonlySet<string> = new Set([
  ...Object.values(RESOURCES).map(({ kind }) => kind),
  ...TABLES.map(({ table }) => table),
  ...['annotation', 'spec', 'status', 'metadata'],
]);

/** Whether the message begins as Kiln's messages do: with the object or field. */
export function beginsAsOurs(message: string): boolean {
  return BEGINNINGS.has(OPENING.exec(message)?.[0] ?? '') || message.startsWith('Logical router ');
}

export function isOwnReason(reason: unknown): boolean {
  return typeof reason === 'string' && Object.hasOwn(REASONS, reason);
}

const LETTERS = /^\p{L}{1,32}$/u;
/** `v1`, `ip4`, `eth0`. */
const NUMBERED = /^[a-z]{0,3}\d{1,5}$/;

/**
 * What Kiln or another program says, in a condition, an Event, a report or a log: words of letters, and words and
 * quotations with a format of the contract.
 */
export function archivedProse(text: string, names: KnownNames): string {
  const isPlain = (word: string): boolean =>
    isAllowed(word, names) || word.split(/[/:|_]/).every((part) => isAllowedPart(part, names) || part.split(/[._-]/).every(isWord));
  return isAllowed(text, names) ? text : (archivedMatch(text, names) ?? withPlainWords(text, isPlain));
}

function isWord(part: string): boolean {
  return part === '' || LETTERS.test(part) || NUMBERED.test(part);
}

const NAMES_IN_MATCH = /"((?:[^"\\]|\\.)*)"|[$@]([\w.]+)/g;

/** Of a match of OVN everything but names that no object or row has. @returns undefined for a text that is no match */
function archivedMatch(text: string, names: KnownNames): string | undefined {
  // A comment is free text.
  if (text.length > LONGEST || /\/[/*]/.test(text) || matchProblem(text) !== undefined) return undefined;
  return text.replace(NAMES_IN_MATCH, (whole, quoted?: string, set?: string) =>
    names.has(quoted ?? set ?? '') ? whole : `"${withheld(whole)}"`,
  );
}
