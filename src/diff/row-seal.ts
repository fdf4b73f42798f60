/**
 * The seal of a row: a hash, in its `external_ids`, of what Kiln last wrote into it, in the same transaction. A row whose seal is that of
 * what is wanted now, and which holds something else, was changed by another program, whoever led or did not since.
 */
import { hash32 } from '../nb/row-id.ts';
import type { InputValue } from '../ovsdb/index.ts';

/**
 * Digits alone: a person who looks for a name in the database does not find it in a seal.
 * @param facts columns as they are written, in any order, and where the row is
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
