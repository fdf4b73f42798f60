/**
 * The ownership of a row, decided in this one place. A row is ours if its external_ids have Kube-OVN's vendor key and Kiln's ownership
 * keys. A row with the vendor key alone is legacy. So is a row without it, if other keys of Kube-OVN, or its parent, show that it is
 * Kube-OVN's: before 1.15 Kube-OVN wrote the vendor key into two rows of three. All other rows are foreign, and Kiln never changes them.
 */
export const VENDOR_KEY = 'vendor';
export const VENDOR = 'kube-ovn';
export const OWNER_KEY = 'kiln.io/owner';
export const UID_KEY = 'kiln.io/uid';
export const RULE_KEY = 'kiln.io/rule';
/** The MAC that a row had when Kiln adopted it: Kube-OVN chooses MACs at random, and the row keeps its own. */
export const MAC_KEY = 'kiln.io/mac';
/** In the switch of a Subnet: `spec.mtu` that its running pods were made with. */
export const MTU_KEY = 'kiln.io/mtu';
/** In the rows of a NAT rule: the spec that they carry out, which stays in effect while a later one cannot be. */
export const SPEC_KEY = 'kiln.io/spec';
/** In a static route: at the take-over it was the one next hop for its destination, whatever the spec says. */
export const ALONE_KEY = 'kiln.io/alone';
/** In a row that an undo restored: a person no longer needs it, and the collection may delete it. */
export const LET_GO_KEY = 'kiln.io/let-go';
/** In a row of ours that nothing explains and that is not collected: since when, RFC 3339. The rules remove it with any key that they do not emit. */
export const UNEXPLAINED_KEY = 'kiln.io/unexplained-since';
/** The rule of leftovers, which are retained as they are. */
export const LEFTOVER_RULE = 'leftover';
/** The rule of a Vpc's load balancers. */
export const LOAD_BALANCERS_RULE = 'vpc-load-balancers';
/** The rule of a Vpc's ports in external Subnets. */
export const EXTERNAL_PORTS_RULE = 'vpc-external';
/** Key of the fencing term in NB_Global.external_ids. */
export const TERM_KEY = 'kiln.io/term';

/** The row owner: the object that a row belongs to. */
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
  | { readonly kind: 'foreign'; readonly family: ForeignFamily; readonly neighbour?: string };

/** `configured`: a pattern of the configuration matches it (`neighbours.ts`), and `neighbour` is its name. */
export type ForeignFamily = 'neutron' | 'ovn-kubernetes' | 'ovn-ic' | 'configured' | 'unknown';

/** `<kind>/<namespace>/<name>`: the value of the owner key. */
export function ownerText(owner: Owner): string {
  return `${owner.kind}/${owner.namespace}/${owner.name}`;
}

export function ownerKeys(owner: Owner, rule: string): Readonly<Record<string, string>> {
  return { [VENDOR_KEY]: VENDOR, [OWNER_KEY]: ownerText(owner), [UID_KEY]: owner.uid, [RULE_KEY]: rule };
}

const OF_FAMILY: Readonly<Record<Exclude<ForeignFamily, 'configured'>, Ownership>> = {
  neutron: { kind: 'foreign', family: 'neutron' },
  'ovn-kubernetes': { kind: 'foreign', family: 'ovn-kubernetes' },
  'ovn-ic': { kind: 'foreign', family: 'ovn-ic' },
  unknown: { kind: 'foreign', family: 'unknown' },
};
const LEGACY: Ownership = { kind: 'legacy' };

/** A row that refers to another one and keeps it alive. */
export interface ParentRow {
  readonly name: string;
  readonly ownership: Ownership;
  /** Kiln inserted or adopted it, also if another program has removed its ownership keys since. */
  readonly wasAdopted: boolean;
}

/** The table and the parents of a row. */
export interface TableAndParents {
  readonly table: string;
  readonly parents: readonly ParentRow[];
}

export type ExternalIds = ReadonlyMap<unknown, unknown>;

/** Tables with rows that Kube-OVN makes without the vendor key, in a parent that has it. */
const KEYLESS_INSIDE: ReadonlySet<string> = new Set([
  'ACL',
  'Gateway_Chassis',
  'Logical_Router_Policy',
  'Logical_Router_Static_Route',
  'NAT',
]);
/** Of these, the tables into whose rows no release of Kube-OVN writes any key. */
const ALWAYS_KEYLESS: ReadonlySet<string> = new Set(['NAT']);
/** Keys that only Kube-OVN writes, into rows for policies, groups and nodes; before 1.15 it wrote no vendor key there. */
const TELLING_KEYS: Readonly<Record<string, readonly string[]>> = {
  Port_Group: ['np', 'sg', 'anp', 'banp', 'cnp'],
  Address_Set: ['np', 'sg', 'anp', 'banp', 'cnp'],
};
/** Keys with which a row of Kube-OVN names its parent. */
const NAMES_PARENT: readonly string[] = ['parent', 'subnet', 'lrp'];
/** All keys that Kube-OVN writes into rows of these tables. A row with any other key is another program's. */
const KUBE_OVN_KEYS: ReadonlySet<string> = new Set([
  ...['parent', 'subnet', 'node', 'lr', 'ls', 'lrp', 'np', 'sg', 'anp', 'banp', 'cnp', 'name', 'type', 'u2o', 'direction'],
  ...['address-family', 'isU2ORoutePolicy', 'isLocalDnsCache', 'security_group'],
]);

/**
 * @param externalIds the row's external_ids, or undefined for a table that has none
 * @param within decides for a row without the vendor key; omitted for tables where only the keys count
 */
export function ownershipOf(externalIds: ExternalIds | undefined, within?: TableAndParents): Ownership {
  if (externalIds?.get(VENDOR_KEY) === VENDOR) {
    const owner = externalIds.get(OWNER_KEY);
    const uid = externalIds.get(UID_KEY);
    if (typeof owner !== 'string' || typeof uid !== 'string') return LEGACY;
    return { kind: 'ours', owner, uid, rule: String(externalIds.get(RULE_KEY) ?? '') };
  }
  for (const key of externalIds?.keys() ?? []) {
    const text = String(key);
    if (text.startsWith('neutron:')) return OF_FAMILY.neutron;
    if (text.startsWith('k8s.ovn.org/')) return OF_FAMILY['ovn-kubernetes'];
    if (text.startsWith('ic-')) return OF_FAMILY['ovn-ic'];
  }
  return within !== undefined && isKubeOvns(externalIds, within) ? LEGACY : OF_FAMILY.unknown;
}

/**
 * Whether a row without the vendor key is Kube-OVN's: it has a key that only Kube-OVN writes, or names the vendor row that contains it, or
 * a legacy row that is not adopted yet contains it. Any program may add a row to a row after its adoption; the rows that it contained
 * before got the vendor key with the adoption. A NAT row without keys is Kube-OVN's also then: it writes none until today, and may have
 * run in between.
 */
function isKubeOvns(externalIds: ExternalIds | undefined, { table, parents }: TableAndParents): boolean {
  if (!hasNoForeignKey(externalIds)) return false;
  const has = (key: string): boolean => externalIds?.has(key) === true;
  if (TELLING_KEYS[table]?.some(has) === true || (has('sg') && externalIds?.get('type') === 'security_group')) return true;
  if (!KEYLESS_INSIDE.has(table)) return false;
  return parents.some(
    ({ name, ownership: { kind }, wasAdopted }) =>
      (kind === 'legacy' && !wasAdopted) ||
      (kind !== 'foreign' && (ALWAYS_KEYLESS.has(table) || NAMES_PARENT.some((key) => externalIds?.get(key) === name))),
  );
}

/**
 * Whether a foreign row without keys, and with the identity of an emitted row, may be adopted: if a row of ours contains it (a Kube-OVN
 * that ran in between makes such rows), or if the status of an object names it.
 */
export function mayAdopt(externalIds: ExternalIds | undefined, { table, parents }: TableAndParents, isNamedByObject: boolean): boolean {
  if (!hasNoForeignKey(externalIds)) return false;
  if (isNamedByObject) return true;
  return KEYLESS_INSIDE.has(table) && parents.some(({ ownership: { kind } }) => kind === 'ours');
}

/** The name of the program that a foreign row belongs to, as far as it is known. */
export function neighbourOf({ family, neighbour }: Extract<Ownership, { kind: 'foreign' }>): string {
  return neighbour ?? (family === 'unknown' ? 'another program' : family);
}

/** Whether a row has the vendor key. @param held its column external_ids */
export function hasVendorKey(held: unknown): boolean {
  return held instanceof Map && held.get(VENDOR_KEY) === VENDOR;
}

/** Names by which the migration of Kube-OVN 1.15 finds rows of older releases that have no keys at all. */
const MIGRATED_NAMES: Readonly<Record<string, RegExp>> = {
  Port_Group: /^ovn\.sg\../,
  Address_Set: /^ovn\.sg\..+\.associated\.v[46]$|\.(ingress|egress)\.(allow|except)\.(ip[46]|IPv[46]|all)(\.(\d+|all))?$/,
  Load_Balancer: /^cluster-(tcp|udp|sctp)(-session)?-loadbalancer$|^vpc-.+-(tcp|udp|sctp)-(load|sess-load)$/,
};

/** Whether Kube-OVN made the row, and its vendor key is missing: rows of releases before 1.15. */
export function isKeyless(table: string, name: string, externalIds: ExternalIds | undefined, ownership: Ownership): boolean {
  if (ownership.kind === 'ours' || hasVendorKey(externalIds)) return false;
  if (ownership.kind === 'legacy') return true;
  return MIGRATED_NAMES[table]?.test(name) === true && !hasKilnKey(externalIds) && hasNoForeignKey(externalIds);
}

/** Whether a row has any key that only Kiln writes. */
export function hasKilnKey(externalIds: ExternalIds | undefined): boolean {
  for (const key of externalIds?.keys() ?? []) if (String(key).startsWith('kiln.io/')) return true;
  return false;
}

/** Whether the ownership of the table's rows depends on their parents. */
export function dependsOnParents(table: string): boolean {
  return KEYLESS_INSIDE.has(table) || TELLING_KEYS[table] !== undefined;
}

function hasNoForeignKey(externalIds: ExternalIds | undefined): boolean {
  for (const key of externalIds?.keys() ?? []) if (!KUBE_OVN_KEYS.has(String(key)) && !String(key).startsWith('kiln.io/')) return false;
  return true;
}
