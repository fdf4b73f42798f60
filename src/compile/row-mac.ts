/**
 * MACs of rows of a Vpc or a Subnet. Kiln derives the MAC from the row's identity, so that rules stay pure and a restart changes nothing.
 * An adopted row keeps Kube-OVN's MAC, which Kiln stores in its `external_ids`: a later edit of the MAC column does not count.
 */
import { macFromBytes, parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import { MAC_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { hash32 } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';

/**
 * @param key for a MAC in a map column
 * @param named the row is foreign and will be adopted (`named` of a row output)
 */
export function rowMac(world: World, id: RowId, column: string, key?: string, named = false): Mac {
  const legacy = named || world.rows.state(id)?.ownership.kind === 'legacy';
  const text = legacy ? textIn(world, id, column, key) : textIn(world, id, 'external_ids', MAC_KEY);
  return (text === undefined ? undefined : parseMac(text)) ?? derivedMac(id);
}

/** For `externalIds` of a row: its MAC, unless that is the derived one. */
export function macExternalId(id: RowId, mac: Mac): Readonly<Record<string, string>> {
  return mac === derivedMac(id) ? {} : { [MAC_KEY]: mac };
}

function textIn(world: World, id: RowId, column: string, key: string | undefined): string | undefined {
  const held = world.rows.column(id, column);
  const text: unknown = key === undefined ? held : held instanceof Map ? held.get(key) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** A locally administered unicast MAC from six bytes of a hash. */
export function derivedMac(identity: string): Mac {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint32(0, hash32(identity, 0x51ed270b));
  bytes.setUint32(4, hash32(identity, 0x2545f491));
  return macFromBytes(new Uint8Array(bytes.buffer));
}
