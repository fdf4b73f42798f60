import { randomUUID } from 'node:crypto';

declare const uuidBrand: unique symbol;

/** The UUID of a row, in lower case with hyphens (RFC 7047 section 3.1 `<uuid>`). */
export type Uuid = string & { readonly [uuidBrand]: true };

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The transaction id of a server that keeps no history; a monitor that starts from it gets everything. */
export const zeroUuid = '00000000-0000-0000-0000-000000000000' as Uuid;

export function isUuid(text: string): text is Uuid {
  return text.length === 36 && uuidPattern.test(text);
}

/** @throws {TypeError} if the text is not a UUID */
export function parseUuid(text: string): Uuid {
  if (!isUuid(text)) throw new TypeError(`not a UUID: ${JSON.stringify(text)}`);
  return text.toLowerCase() as Uuid;
}

/** A random UUID for a new row: an insert with it cannot take effect twice. */
export function newUuid(): Uuid {
  return randomUUID() as string as Uuid;
}
