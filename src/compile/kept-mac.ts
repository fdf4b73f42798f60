/**
 * MACs of rows that Kiln makes for a Vpc or a Subnet: the one the row has, else one that follows from the row's identity, so
 * that rules stay pure and a restart changes nothing.
 */
import { macFromBytes, parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { RowId } from '../nb/row-id.ts';
import { hash32 } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';

/** @param key where the MAC is a value of a map column */
export function keptMac(world: World, id: RowId, column: string, key?: string): Mac {
  const held = world.rows.column(id, column);
  const text: unknown = key === undefined ? held : held instanceof Map ? held.get(key) : undefined;
  return (typeof text === 'string' ? parseMac(text) : undefined) ?? derivedMac(id);
}

/** Six bytes of a hash, made a locally administered unicast MAC. */
export function derivedMac(identity: string): Mac {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint32(0, hash32(identity, 0x51ed270b));
  bytes.setUint32(4, hash32(identity, 0x2545f491));
  return macFromBytes(new Uint8Array(bytes.buffer));
}
