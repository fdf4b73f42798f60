/**
 * MACs of rows that Kiln makes for a Vpc or a Subnet: one that follows from the row's identity, so that rules stay pure and a restart
 * changes nothing. A row that is taken over from Kube-OVN keeps the one it has then, and says it among its marks: what somebody writes into
 * a row of Kiln's later is not taken for it.
 */
import { macFromBytes, parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import { MAC_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { hash32 } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';

/** @param key where the MAC is a value of a map column */
export function keptMac(world: World, id: RowId, column: string, key?: string): Mac {
  const legacy = world.rows.state(id)?.ownership.kind === 'legacy';
  const text = legacy ? textIn(world, id, column, key) : textIn(world, id, 'external_ids', MAC_KEY);
  return (text === undefined ? undefined : parseMac(text)) ?? derivedMac(id);
}

/** For `externalIds` of a row: the MAC that it keeps, where that is not the one which follows from its identity. */
export function macExternalId(id: RowId, mac: Mac): Readonly<Record<string, string>> {
  return mac === derivedMac(id) ? {} : { [MAC_KEY]: mac };
}

function textIn(world: World, id: RowId, column: string, key: string | undefined): string | undefined {
  const held = world.rows.column(id, column);
  const text: unknown = key === undefined ? held : held instanceof Map ? held.get(key) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** Six bytes of a hash, made a locally administered unicast MAC. */
export function derivedMac(identity: string): Mac {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint32(0, hash32(identity, 0x51ed270b));
  bytes.setUint32(4, hash32(identity, 0x2545f491));
  return macFromBytes(new Uint8Array(bytes.buffer));
}
