/**
 * Whose a row is. A row is Kiln's when its external_ids carry Kube-OVN's vendor marker and Kiln's owner keys; with the
 * marker alone it is Kube-OVN's legacy; everything else is foreign, and not ours is enough to leave it alone.
 */
export const VENDOR_KEY = 'vendor';
export const VENDOR = 'kube-ovn';
export const OWNER_KEY = 'kiln.io/owner';
export const UID_KEY = 'kiln.io/uid';
export const RULE_KEY = 'kiln.io/rule';
/** Of what was last written into a row, with that. */
export const SEAL_KEY = 'kiln.io/seal';
/** The MAC that a row had when it was taken over from Kube-OVN, which draws them at random: the one that the row keeps. */
export const MAC_KEY = 'kiln.io/mac';
/** Key of the fencing term in NB_Global.external_ids. */
export const TERM_KEY = 'kiln.io/term';

/** The object because of which a row exists. */
export interface Owner {
  /** Lower-case kind, e.g. `subnet`. */
  readonly kind: string;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type Ownership =
  | { readonly kind: 'ours'; readonly owner: string; readonly uid: string; readonly rule: string }
  | { readonly kind: 'legacy' }
  | { readonly kind: 'foreign'; readonly family: ForeignFamily };

export type ForeignFamily = 'neutron' | 'ovn-kubernetes' | 'ovn-ic' | 'unknown';

/** `<kind>/<namespace>/<name>`: the value of the owner key. */
export function ownerText(owner: Owner): string {
  return `${owner.kind}/${owner.namespace}/${owner.name}`;
}

export function ownerKeys(owner: Owner, rule: string): Readonly<Record<string, string>> {
  return { [VENDOR_KEY]: VENDOR, [OWNER_KEY]: ownerText(owner), [UID_KEY]: owner.uid, [RULE_KEY]: rule };
}

const FOREIGN: Ownership = { kind: 'foreign', family: 'unknown' };
const LEGACY: Ownership = { kind: 'legacy' };

/** @param externalIds the row's external_ids, or undefined for a table that has none */
export function ownershipOf(externalIds: ReadonlyMap<unknown, unknown> | undefined): Ownership {
  if (externalIds === undefined || externalIds.size === 0) return FOREIGN;
  if (externalIds.get(VENDOR_KEY) === VENDOR) {
    const owner = externalIds.get(OWNER_KEY);
    const uid = externalIds.get(UID_KEY);
    if (typeof owner !== 'string' || typeof uid !== 'string') return LEGACY;
    return { kind: 'ours', owner, uid, rule: String(externalIds.get(RULE_KEY) ?? '') };
  }
  for (const key of externalIds.keys()) {
    const text = String(key);
    if (text.startsWith('neutron:')) return { kind: 'foreign', family: 'neutron' };
    if (text.startsWith('k8s.ovn.org/')) return { kind: 'foreign', family: 'ovn-kubernetes' };
    if (text.startsWith('ic-')) return { kind: 'foreign', family: 'ovn-ic' };
  }
  return FOREIGN;
}
