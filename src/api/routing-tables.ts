/** Unspecified, default, main and local: the kernel and every program of a host use them, so a route in one of them would cut the node off. */
const TABLES_OF_THE_HOST: ReadonlySet<number> = new Set([0, 253, 254, 255]);

/** Whether a table of routes cannot be one of a Subnet alone. */
export function isTableOfHost(table: number): boolean {
  return table < 0 || TABLES_OF_THE_HOST.has(table);
}
