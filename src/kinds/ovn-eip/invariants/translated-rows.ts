/**
 * I3 for the rows that translate: each rule has in OVN what its status says, with the addresses of its EIP, and no address of an EIP leads to
 * two places.
 */
import type { World } from '../../../world/world.ts';
import { conditionsOf } from '../../../world/conditions.ts';
import type { NatRule, NatRuleResource } from '../../../world/nat-rules.ts';
import { formerSpecs } from '../../ovn-fip/table/former-specs.ts';
import { eipOfRule, natRulesOf, translationsOf } from '../../../world/nat-rules.ts';
import { traitsOf } from '../../../world/resources.ts';
import { OWNER_KEY } from '../../../nb/ownership.ts';
import { tableOf } from '../../../nb/row-id.ts';
import type { Violation } from '../../../invariants/violation.ts';

interface Translated {
  /** The address outside; with protocol and port where one port is translated. */
  readonly external: string;
  readonly inner: string;
  /** In one router, rows with equal ones contradict each other; undefined: any number may have the address outside. */
  readonly place: string | undefined;
}

export function translatedRows(world: World): readonly Violation[] {
  const rows = rowsByOwner(world);
  const violations: Violation[] = [];
  const places = new Map<string, string>();
  for (const resource of natRulesOf('ovn-eips')) {
    for (const [name, rule] of world.natRules[resource].entries()) {
      const subject = `${traitsOf(resource).kind} ${name}`;
      const found = rows.get(`${traitsOf(resource).kind.toLowerCase()}//${name}`) ?? [];
      for (const message of contradictions(world, resource, rule, found))
        violations.push({ invariant: 'I3', subject, message: `${subject} ${message}` });
      for (const { place, external } of found) {
        if (place === undefined) continue;
        const inRouter = `${rule.status?.vpc ?? ''} ${place}`;
        const other = places.get(inRouter);
        if (other !== undefined)
          violations.push({ invariant: 'I3', subject, message: `${subject} and ${other} both translate ${external}` });
        places.set(inRouter, subject);
      }
    }
  }
  return violations;
}

function contradictions(world: World, resource: NatRuleResource, rule: NatRule, found: readonly Translated[]): readonly string[] {
  const { deletionTimestamp } = rule.metadata;
  const ready = conditionsOf(resource, rule).find(({ type }) => type === 'Ready');
  // Another program's row is in the place of one of its rows, and it says so.
  if (deletionTimestamp !== undefined || ready?.reason === 'RowConflict') return [];
  const said = translationsOf(rule).map(([external, inner]) => `${external}=${inner}`);
  const has = found.map(({ external, inner }) => `${addressOf(external)}=${addressOf(inner)}`);
  const differ = [...said.filter((one) => !has.includes(one)), ...has.filter((one) => !said.includes(one))];
  // An edit that cannot be carried out leaves its former OvnEip in use, and the rule says that it is not accepted.
  const refused = conditionsOf(resource, rule).some(({ type, status }) => type === 'Accepted' && status === 'False');
  const former = refused ? world.derived(formerSpecs).get(`${resource}/${rule.metadata.name}`) : undefined;
  const name = former?.spec.ovnEip ?? eipOfRule(rule);
  const eip = world.addressObject('ovn-eips', name);
  const foreign =
    eip?.held === undefined ? [] : translationsOf(rule).filter(([external]) => ![eip.held?.v4, eip.held?.v6].includes(external));
  return [
    ...(differ.length === 0 ? [] : [`says that it translates ${said.join() || 'nothing'}, and OVN has ${has.join() || 'nothing'}`]),
    ...foreign.map(([external]) => `translates ${external}, which is no address of OvnEip ${name}`),
    ...(ready?.status === 'True' && found.length === 0 ? ['is ready, and nothing of it is in OVN'] : []),
  ];
}

/** What the rows of each owner translate. */
function rowsByOwner(world: World): ReadonlyMap<string, readonly Translated[]> {
  const found = new Map<string, Translated[]>();
  for (const id of world.rows.owned) {
    const table = tableOf(id);
    if (table !== 'NAT' && table !== 'Load_Balancer') continue;
    const row = world.rows.best(id)?.row;
    const externalIds = row?.external_ids;
    if (row === undefined || !(externalIds instanceof Map)) continue;
    const owner = String(externalIds.get(OWNER_KEY) ?? '');
    found.set(owner, [...(found.get(owner) ?? []), ...(table === 'NAT' ? ofNat(row) : ofBalancer(row))]);
  }
  return found;
}

type Columns = Readonly<Record<string, unknown>>;

function ofNat({ type, external_ip: external, logical_ip: inner }: Columns): readonly Translated[] {
  const place = type === 'dnat_and_snat' ? String(external) : undefined;
  return [{ external: String(external), inner: String(inner), place }];
}

function ofBalancer({ vips, protocol }: Columns): readonly Translated[] {
  if (!(vips instanceof Map)) return [];
  return [...vips].map(([vip, backend]) => ({
    external: String(vip),
    inner: String(backend),
    place: `${String(protocol)} ${String(vip)}`,
  }));
}

/** Without the port: `1.2.3.4:80` and `[fd00::1]:80` have one, `fd00::1` and `10.0.0.0/24` have none. */
function addressOf(text: string): string {
  const bracketed = /^\[(.*)\]:\d+$/.exec(text)?.[1];
  return bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.lastIndexOf(':')) : text);
}
