/** The IP addresses of ports: those that a switch has, and those of a journaled port. Pure. */
import type { Row, Uuid } from '../ovsdb/index.ts';
import type { JsonValue } from './journal.ts';

/** @param row finds rows of the present. @returns the name of a port by each address in the switch */
export function addressesIn(home: Uuid, row: (table: string, uuid: Uuid) => Row | undefined): ReadonlyMap<string, string> {
  const ports = row('Logical_Switch', home)?.['ports'];
  const found = new Map<string, string>();
  if (!(ports instanceof Set)) return found;
  for (const uuid of ports as ReadonlySet<Uuid>) {
    const port = row('Logical_Switch_Port', uuid);
    const held = port?.['addresses'];
    const texts = held instanceof Set ? [...(held as ReadonlySet<string>)] : [];
    for (const address of addressesOf(texts)) found.set(address, String(port?.['name'] ?? uuid));
  }
  return found;
}

/** The IP addresses in the column `addresses`, without the MAC in front. */
export function addressesOf(value: JsonValue | undefined): readonly string[] {
  const texts = Array.isArray(value) ? (value as readonly string[]) : [];
  return texts.flatMap((text) => text.split(' ').slice(1)).filter((text) => /^[0-9a-fA-F.:]+$/.test(text));
}
