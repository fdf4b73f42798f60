/**
 * I3: every owned row has an existing owner with the row's uid, and is as a rule emits it.
 */
import type { Condition } from '../api/kubernetes/meta.ts';
import { isOvnProvider } from '../api/names.ts';
import { labelKey } from '../api/well-known.ts';
import type { Verdict } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { NAT_RULES } from '../world/nat-rules.ts';
import { resourceOfKind } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { addressObjects } from './address-holders.ts';
import type { Violation } from './violation.ts';

export function ownedRows(world: World, planned: readonly { readonly id: RowId; readonly verdict: Verdict }[]): readonly Violation[] {
  const violations: Violation[] = [];
  // A row that no rule emits and that has a foreign row in it stays until that is gone, and has a report.
  const waits = new Set(planned.filter(({ verdict }) => verdict.kind === 'conflict').map(({ id }) => id));
  for (const id of world.rows.owned) {
    const ownership = world.rows.best(id)?.ownership;
    if (ownership?.kind !== 'ours') continue;
    const [kind = '', namespace = '', ...rest] = ownership.owner.split('/');
    const name = rest.join('/');
    const uid = uidOf(world, kind, namespace === '' ? name : `${namespace}/${name}`);
    if (
      uid === ownership.uid ||
      ((uid === undefined || !ownsRows(world, kind, name)) && isRetained(world, kind, name)) ||
      waits.has(id) ||
      isWithinConflict(world, id, waits)
    )
      continue;
    const message =
      uid === undefined
        ? `there is no ${ownership.owner}`
        : `${ownership.owner} is another object now (uid ${uid}, the row says ${ownership.uid})`;
    violations.push({ invariant: 'I3', subject: id, message: `row ${id} is owned, and ${message}` });
  }
  for (const { id, verdict } of planned) {
    if (verdict.kind !== 'change') continue;
    violations.push({
      invariant: 'I3',
      subject: id,
      message: `row ${id} is not as the rules want it: ${verdict.change}, ${verdict.detail}`,
    });
  }
  return violations;
}

/**
 * Another program removed the ownership keys of the parent row, and the object of both has a report: until that is repaired the row stays.
 */
function isWithinConflict(world: World, id: RowId, waits: ReadonlySet<RowId>): boolean {
  const parent = world.rows.best(id)?.parent;
  const row = parent === undefined ? undefined : world.rows.entry(parent.uuid);
  return row?.ownership.kind === 'foreign' && row.id !== undefined && waits.has(row.id);
}

/**
 * After a removal by force, the router of a Vpc stays for the Subnets that need it, the network of a Subnet for its addresses in use, and
 * such a network keeps its router.
 */
function isRetained(world: World, kind: string, name: string): boolean {
  if (kind === 'vpc')
    return world.subnetVpcs.peekIn(name).size > 0 || subnetsOfRouter(world, name).some((subnet) => isRetained(world, 'subnet', subnet));
  if (kind !== 'subnet') return false;
  return (
    world.ips.peekBucket('subnet', name).size > 0 ||
    addressObjects(world).some(({ subnet, held }) => subnet === name && held !== undefined) ||
    NAT_RULES.some((resource) => world.natRules[resource].peekBucket('subnet', name).size > 0)
  );
}

/** Subnets, existing or not, with router ports in the router of a Vpc. */
function subnetsOfRouter(world: World, vpc: string): readonly string[] {
  const router = world.rows.best(rowId('Logical_Router', vpc))?.uuid;
  if (router === undefined) return [];
  return world.rows.inTable('Logical_Router_Port').flatMap(({ parent, ownership }) => {
    const [kind, , subnet] = ownership.kind === 'ours' && parent?.uuid === router ? ownership.owner.split('/') : [];
    return kind === 'subnet' && subnet !== undefined ? [subnet] : [];
  });
}

/** A new object of the name with an invalid spec, or one that is not for Kiln's OVN, does not replace the rows of the old one. */
function ownsRows(world: World, kind: string, name: string): boolean {
  if (kind === 'vpc') {
    const vpc = world.vpcs.peek(name);
    return vpc === undefined || (vpc.metadata.labels?.[labelKey.vpcExternal] !== 'true' && isReady(vpc.status?.conditions));
  }
  const subnet = kind === 'subnet' ? world.subnets.peek(name) : undefined;
  return subnet === undefined || (isOvnProvider(subnet.spec.provider ?? '') && isReady(subnet.status?.conditions));
}

function isReady(conditions: readonly Partial<Condition>[] | undefined): boolean {
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

function uidOf(world: World, kind: string, key: string): string | undefined {
  const resource = resourceOfKind(kind);
  if (resource === undefined) return undefined;
  // Without a table of its own: a kind that is not implemented, for which Kube-OVN left rows.
  const table = world.tables[resource];
  return table === undefined ? world.unimplemented.peek(`${resource}/${key}`)?.uid : table.peek(key)?.metadata.uid;
}
