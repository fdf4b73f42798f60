/** The Northbound rows of a translation: NAT rows, or the load balancer of an OvnDnatRule, in the router of the Vpc. */
import { ownerText, SPEC_KEY } from '../../nb/ownership.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { World } from '../../world/world.ts';
import type { MemberOutput, RowOutput, RowOwner } from '../output.ts';
import { isOurs, routerId } from '../vpc/vpc-view.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import type { PodUse } from './pod-translation.ts';
import type { Pair, Translation } from './nat-pairs.ts';
import { natId } from './nat-pairs.ts';

export const NAT_RULE = 'nat-rule';

export function natRows(
  world: World,
  resource: OvnNatRule,
  translation: Translation,
  owner: RowOwner,
): readonly (RowOutput | MemberOutput)[] {
  if (resource === 'ovn-dnat-rules') return loadBalancer(world, translation, owner);
  return translation.pairs.map((pair) => natRow(resource, translation, pair, owner));
}

/** Kube-OVN's rows for the annotations of a pod: a centralized one has neither port nor options. */
export function podNatRows(use: PodUse, translation: Translation, owner: RowOwner): readonly RowOutput[] {
  const as = use === 'pod-eip' ? 'ovn-fips' : 'ovn-snat-rules';
  return translation.pairs.map((pair) => {
    const row = natRow(as, translation, pair, owner);
    return translation.distributed ? row : { ...row, columns: { ...row.columns, options: {} } };
  });
}

function natRow(resource: OvnNatRule, translation: Translation, { external, inner }: Pair, owner: RowOwner): RowOutput {
  const isFip = resource === 'ovn-fips';
  const type = isFip ? 'dnat_and_snat' : 'snat';
  return {
    kind: 'row',
    id: natId(translation.vpc, type, external, inner),
    owner,
    rule: NAT_RULE,
    parent: { id: routerId(translation.vpc), column: 'nat' },
    columns: {
      type,
      external_ip: external,
      logical_ip: inner,
      ...(isFip ? fipColumns(translation) : { logical_port: null, external_mac: null, options: {} }),
    },
    ...recordOf(translation),
  };
}

function recordOf({ spec }: Translation): Pick<RowOutput, 'externalIds'> {
  return spec === '' ? {} : { externalIds: { [SPEC_KEY]: spec } };
}

/**
 * OVN translates at the node of the port if the row has both the port and a MAC. So a centralized OvnFip has no MAC; with Kube-OVN it has
 * one, and is distributed all the same.
 */
function fipColumns({ port, mac, distributed }: Translation): RowOutput['columns'] {
  return {
    logical_port: port === '' ? null : port,
    external_mac: distributed && port !== '' && mac !== '' ? mac : null,
    options: { stateless: String(distributed) },
  };
}

/** Kube-OVN has OVN forget the connections of UDP with a load balancer whose backend changes. */
function loadBalancer(world: World, translation: Translation, owner: RowOwner): readonly (RowOutput | MemberOutput)[] {
  const id = rowId('Load_Balancer', owner.name);
  const { protocol } = translation;
  const row: RowOutput = {
    kind: 'row',
    id,
    owner,
    rule: NAT_RULE,
    columns: { name: owner.name, protocol, vips: vipsOf(translation), options: protocol === 'udp' ? { ct_flush: 'true' } : {} },
    ...recordOf(translation),
  };
  // A load balancer of a Vpc with that name does not come into another router.
  const present = world.rows.state(id)?.ownership;
  if (present?.kind === 'ours' && present.owner !== ownerText(owner)) return [row];
  return [row, { kind: 'member', row: routerId(translation.vpc), column: 'load_balancer', member: { ref: id } }];
}

function vipsOf({ pairs, externalPort, internalPort }: Translation): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map(({ family, external, inner }) => {
      const at = (address: string, port: string): string => `${family === 6 ? `[${address}]` : address}:${Number(port)}`;
      return [at(external, externalPort), at(inner, internalPort)];
    }),
  );
}

/** Whether a row of the rule is one of this translation: of a load balancer, whether it still has an address and target of it. */
export function isRowOf(world: World, resource: OvnNatRule, translation: Translation, row: RowId): boolean {
  if (resource !== 'ovn-dnat-rules') {
    const type = resource === 'ovn-fips' ? 'dnat_and_snat' : 'snat';
    return translation.pairs.some(({ external, inner }) => natId(translation.vpc, type, external, inner) === row);
  }
  const vips = world.rows.column(row, 'vips');
  return (
    vips instanceof Map &&
    Object.entries(vipsOf(translation)).some(([vip, backend]) => vips.get(vip) === backend) &&
    world.rows.hasMember(routerId(translation.vpc), 'load_balancer', row)
  );
}

/** Whether one of the rows is in OVN, as observed. */
export function hasSomeRow(world: World, resource: OvnNatRule, translation: Translation, owner: RowOwner): boolean {
  const ids =
    resource === 'ovn-dnat-rules'
      ? [rowId('Load_Balancer', owner.name)]
      : translation.pairs.map(({ external, inner }) =>
          natId(translation.vpc, resource === 'ovn-fips' ? 'dnat_and_snat' : 'snat', external, inner),
        );
  return ids.some((id) => isOurs(world, id, owner) && isRowOf(world, resource, translation, id));
}

/** Whether the rows are in OVN, as observed. */
export function hasRows(world: World, resource: OvnNatRule, translation: Translation, owner: RowOwner): boolean {
  if (resource !== 'ovn-dnat-rules')
    return translation.pairs.every(({ external, inner }) =>
      isOurs(world, natId(translation.vpc, resource === 'ovn-fips' ? 'dnat_and_snat' : 'snat', external, inner), owner),
    );
  const id = rowId('Load_Balancer', owner.name);
  const vips = world.rows.column(id, 'vips');
  return (
    isOurs(world, id, owner) &&
    vips instanceof Map &&
    Object.entries(vipsOf(translation)).every(([vip, backend]) => vips.get(vip) === backend) &&
    // Not the column as a whole, which changes with each rule of the Vpc.
    world.rows.hasMember(routerId(translation.vpc), 'load_balancer', id)
  );
}
