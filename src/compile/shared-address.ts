/** What two hold, as both are told: an address, or only the MAC. */

/** @param others who has something of it, as conflicts are shown: `who (what of Subnet name)` */
export function whatIsShared(address: string, mac: string, others: readonly string[]): string {
  const isMac = mac !== '' && others.every((other) => other.includes(`(${mac.toLowerCase()} of `));
  return isMac ? `MAC ${mac}` : `address ${address}`;
}
