/**
 * The fields of a log line. A field that is not in this list is not written: a new one is added here, where its kind
 * decides what of it may stand in a log. Numbers and booleans always may.
 *
 * - `own`: a sentence or a constant of Kiln;
 * - `name`: of objects, rows, devices, files: of their form;
 * - `text`: what another program or a manifest says: word by word (`text/plain-words.ts`).
 */
import { REDACTED, withoutSecrets } from '../text/known-secrets.ts';
import { withPlainWords } from '../text/plain-words.ts';

export type FieldKind = 'own' | 'name' | 'text';

const OWN = ['aside', 'flag', 'for', 'kept', 'limit', 'meanwhile', 'mode', 'next', 'operation', 'paths', 'phase', 'step', 'what'] as const;
const NAMES = [
  ...['address', 'affected', 'attachment', 'bind', 'code', 'configuration', 'database', 'device', 'devices', 'directory', 'discipline'],
  ...['endpoint', 'fields', 'file', 'from', 'gateway', 'group', 'holder', 'id', 'identity', 'key', 'kind', 'kinds', 'lease', 'name'],
  ...['namespace', 'node', 'object', 'observed', 'of', 'owner', 'path', 'port', 'program', 'resource', 'router', 'row', 'rule', 'schema'],
  ...['served', 'server', 'signal', 'socket', 'state', 'status', 'table', 'term', 'to', 'uid', 'url', 'user', 'verb', 'version', 'vswitch'],
  ...['writes'],
] as const;
const TEXTS = ['after', 'before', 'error', 'first', 'found', 'message', 'reason', 'why'] as const;
const NUMBERS = [
  ...[
    'absent',
    'afterMs',
    'againInMs',
    'authorities',
    'count',
    'counts',
    'failures',
    'had',
    'listed',
    'ms',
    'objects',
    'operations',
    'rows',
  ],
  ...['setAside', 'suppressed', 'times'],
] as const;

export type LogField = (typeof OWN | typeof NAMES | typeof TEXTS | typeof NUMBERS)[number];

const KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ...OWN.map((name) => [name, 'own'] as const),
  ...[...NAMES, ...NUMBERS].map((name) => [name, 'name'] as const),
  ...TEXTS.map((name) => [name, 'text'] as const),
]);

/** Undefined: not on the list. */
export function kindOfField(name: string): FieldKind | undefined {
  return KINDS.get(name);
}

/**
 * Maximal characters of one text in a line: a tenant's annotation may have 256 kB, and each line is searched for
 * secrets.
 */
const LONGEST = 16_384;

/** The fields of the list, and of each what may be written. */
export function writtenFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const written = Object.entries(fields).flatMap(([name, value]) => {
    const kind = kindOfField(name);
    return kind === undefined ? [] : [[name, writtenValue(value, kind, withPlainWords)] as const];
  });
  return Object.fromEntries(written);
}

/** @param plain what may stay of a name or text */
export function writtenValue(value: unknown, kind: FieldKind, plain: (text: string) => string, inner = 0): unknown {
  if (typeof value === 'string') return writtenText(value, kind, plain);
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' || value === null || value === undefined)
    return value;
  if (value instanceof Error) return writtenText(value.message, kind, plain);
  if (inner > 4 || typeof value !== 'object') return '[…]';
  if (Array.isArray(value)) return value.map((one: unknown) => writtenValue(one, kind, plain, inner + 1));
  // Columns of a row by their name.
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [plain(name), writtenValue(one, kind, plain, inner + 1)]));
}

function writtenText(text: string, kind: FieldKind, plain: (text: string) => string): string {
  const short = text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… and ${text.length - LONGEST} characters more`;
  const clean = withoutSecrets(short);
  return kind === 'own'
    ? clean
    : clean
        .split(REDACTED)
        .map((part) => plain(part))
        .join(REDACTED);
}
