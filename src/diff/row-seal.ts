/**
 * The seal of a row: a hash, in its `external_ids`, of the contents that Kiln last wrote, in the same transaction. If the seal is that of
 * the desired contents, and the row has other contents, another program changed it, also while no controller was leading.
 */
import { hash32 } from '../nb/row-id.ts';
import type { InputValue } from '../ovsdb/index.ts';

/**
 * Only digits: a search for a name in the database must not find a seal.
 * @param facts the columns as written, in any order, and the parent
 */
export function sealOf(facts: Readonly<Record<string, InputValue>>): string {
  const text = Object.keys(facts)
    .toSorted()
    .map((name) => `${name}=${canonical(facts[name] as InputValue)}`)
    .join('\n');
  return String(hash32(text, 0x4b696c6e));
}

function canonical(value: InputValue): string {
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Map) return entriesText([...value]);
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].map(String).toSorted().join(',');
  return entriesText(Object.entries(value));
}

function entriesText(entries: readonly (readonly [unknown, unknown])[]): string {
  return entries
    .map(([key, value]) => `${String(key)}:${String(value)}`)
    .toSorted()
    .join(',');
}
