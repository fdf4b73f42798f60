/**
 * NAT rows and load balancers of other programs in the router of a Vpc with the external address of a rule, and such leftovers of Kube-OVN.
 * OVN would take either of the two for what comes in. So a new rule waits for the end of such a row, and one in effect stays, and says so. The
 * same with rows that an undo restored and that wait for their object, in any router: both routers would answer for the address.
 */
import type { Ownership } from '../../nb/ownership.ts';
import { neighbourOf, ownerText } from '../../nb/ownership.ts';
import { waitsForOwner } from '../../nb/restored-row.ts';
import { identityOf } from '../../nb/row-id.ts';
import { commandText } from '../../text/command-text.ts';
import { virtualAddress } from '../../world/foreign-translations.ts';
import type { Entry, ObservedRow } from '../../world/observed-rows.ts';
import { isNatRule } from '../../world/nat-rules.ts';
import { resourceOfKind } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { RowOwner } from '../output.ts';
import { translatedFor } from '../vip-eip/leftover-translation.ts';
import { routerId } from '../vpc/vpc-view.ts';
import type { Translation } from './nat-pairs.ts';
import { natId } from './nat-pairs.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { translations } from './translation.ts';

/** A rule or pod, and what it translates. */
interface Translated {
  readonly as: OvnNatRule;
  readonly owner: RowOwner;
  readonly translation: Translation;
}

/** The sentence about the first of them; undefined for none. */
export function foreignNat(world: World, as: OvnNatRule, translation: Translation, owner: RowOwner): string | undefined {
  for (const { external } of translation.pairs) {
    const rows = [...world.rows.foreignTranslations.at(external)].flatMap((uuid) => world.rows.byUuid(uuid) ?? []);
    for (const row of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const of = { as, owner, translation };
      const entry = world.rows.entry(row.uuid);
      if (entry !== undefined && waitsForOwner(entry)) {
        const held = heldText(world, entry, external, of);
        if (held !== undefined) return held;
        continue;
      }
      const found = row.table === 'NAT' ? natText(world, row, external, of) : balancerText(world, row, external, of);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Of a row that an undo restored: undefined if its object is back, or the rule takes it over. */
function heldText(world: World, row: Restored, external: string, { as, owner, translation }: Translated): string | undefined {
  const { object, exists } = objectOf(world, row.ownership.owner);
  const name = identityOf(row.id);
  const { vpc, pairs } = translation;
  const isOwn =
    row.table === 'NAT'
      ? as !== 'ovn-dnat-rules' &&
        pairs.some((pair) => natId(vpc, as === 'ovn-fips' ? 'dnat_and_snat' : 'snat', pair.external, pair.inner) === row.id)
      : as === 'ovn-dnat-rules' && name === owner.name;
  if (exists || isOwn) return undefined;
  return `${row.table} row ${name}, which kiln undo restored, translates ${external} until ${object} is back; use an OvnEip with another address, make that object again, or let the row go: ${commandText`kiln undo --owner ${object} --let-go`}`;
}

type Restored = Entry & { readonly ownership: Extract<Ownership, { readonly kind: 'ours' }> };

/** The object as commands name it, such as `ovnfip/f1` or `pod/shop/web`. */
function objectOf(world: World, owner: string): { readonly object: string; readonly exists: boolean } {
  const [kind = '', namespace = '', name = ''] = owner.split('/');
  const resource = resourceOfKind(kind);
  const key = namespace === '' ? name : `${namespace}/${name}`;
  return { object: `${kind}/${key}`, exists: resource !== undefined && world.tables[resource]?.get(key) !== undefined };
}

function natText(world: World, row: ObservedRow, external: string, of: Translated): string | undefined {
  const { vpc, pairs } = of.translation;
  const [router = '', type = '', , inner = ''] = identityOf(row.id).split('|');
  const own = of.as === 'ovn-fips' ? 'dnat_and_snat' : 'snat';
  // The row of a rule itself is adopted, or its conflict is reported as that of any row.
  if (router !== vpc || (of.as !== 'ovn-dnat-rules' && pairs.some((pair) => natId(vpc, own, pair.external, pair.inner) === row.id)))
    return undefined;
  const what = `NAT row ${type} ${external} to ${inner} of router ${vpc}`;
  if (row.ownership.kind === 'foreign')
    return `${what} belongs to ${neighbourOf(row.ownership)}, and OVN takes one row for an external address; use an OvnEip with another address, or ask that program; ${commandText`ovn-nbctl lr-nat-list ${vpc}`}`;
  if (goesByItself(world, row, external, of)) return undefined;
  return `${what} is left over from Kube-OVN, or a person made it, and OVN takes one row for an external address; use an OvnEip with another address, or ask who made it; ${commandText`ovn-nbctl lr-nat-list ${vpc}`}`;
}

/** Of a leftover of Kube-OVN: a rule that exists adopts it or has another row instead. */
function goesByItself(world: World, row: ObservedRow, external: string, { owner, translation }: Translated): boolean {
  const table = world.derived(translations);
  const isAskedFor = [...table.bucket('address', `${translation.external} ${external}`)].some((key) => {
    const result = table.get(key)?.result;
    if (result?.kind !== 'translation') return false;
    return result.pairs.some((pair) =>
      ['dnat_and_snat', 'snat'].some((type) => natId(result.vpc, type, pair.external, pair.inner) === row.id),
    );
  });
  if (isAskedFor) return true;
  const served = translatedFor(world, row.id);
  if (served === undefined) return false;
  if (ownerText(served) === ownerText(owner)) return true;
  const resource = resourceOfKind(served.kind);
  return resource !== undefined && isNatRule(resource) && table.get(`${resource}/${served.name}`)?.result.kind === 'translation';
}

function balancerText(world: World, row: ObservedRow, external: string, of: Translated): string | undefined {
  const { as, owner, translation } = of;
  const { vpc, protocol, externalPort } = translation;
  const name = identityOf(row.id);
  if (!world.rows.hasMember(routerId(vpc), 'load_balancer', row.id)) return undefined;
  if (as === 'ovn-dnat-rules' && name === owner.name) return undefined;
  const vips = world.rows.column(row.id, 'vips');
  const its = String(world.rows.column(row.id, 'protocol') ?? 'tcp');
  const vip = [...(vips instanceof Map ? vips.keys() : [])].map(String).find((text) => {
    const { address, port } = virtualAddress(text);
    if (address !== external) return false;
    return as !== 'ovn-dnat-rules' || port === '' || (its === protocol && Number(port) === Number(externalPort));
  });
  if (vip === undefined) return undefined;
  // Kube-OVN names the load balancer of an OvnDnatRule after that, which adopts it.
  const isAdopted = world.derived(translations).get(`ovn-dnat-rules/${name}`)?.result.kind === 'translation';
  if (row.ownership.kind !== 'foreign' && isAdopted) return undefined;
  const belongs = row.ownership.kind === 'foreign' ? `belongs to ${neighbourOf(row.ownership)}` : 'is left over from Kube-OVN';
  return `load balancer ${name} of router ${vpc} has ${its} ${vip}, and ${belongs}; use an OvnEip with another address or another port, or ask who made it; ${commandText`ovn-nbctl lb-list ${name}`}`;
}
