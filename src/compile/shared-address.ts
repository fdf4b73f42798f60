/** The subject of a conflict message: the address, or the MAC if only that is shared. */

/** @param others the other claimants, as conflicts name them: `claimant (address of Subnet name)` */
export function sharedSubject(address: string, mac: string, others: readonly string[]): string {
  const isMac = mac !== '' && others.every((other) => other.includes(`(${mac.toLowerCase()} of `));
  return isMac ? `MAC ${mac}` : `address ${address}`;
}
