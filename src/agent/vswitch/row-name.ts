/**
 * The name of a row that a transaction inserts, for its other operations: many ports are made in one transaction, so it has the name of the port
 * or bridge in it. A letter or `_`, then letters, digits and `_` (RFC 7047, `<id>`).
 */
export function rowName(kind: 'interface' | 'port' | 'bridge' | 'mirror' | 'queue' | 'qos', of: string): string {
  return `${kind}_${of.replaceAll(/[^A-Za-z0-9]/gu, (char) => `_${(char.codePointAt(0) ?? 0).toString(16)}_`)}`;
}
