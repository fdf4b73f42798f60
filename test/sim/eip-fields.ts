/**
 * EIPs and the rules that name them: each rule is marked with the address that it uses, by which that outlives the EIP, and the port of an EIP
 * of type `lsp` is there as long as somebody may use it. As `spec-fields.ts` this asks no rule.
 */
import { addressLabelValue, annotationKey, labelKey } from '../../src/api/well-known.ts';
import { addressObjects } from '../../src/invariants/address-holders.ts';
import { parseAddress } from '../../src/net/address.ts';
import { cidrContains, parseCidr } from '../../src/net/cidr.ts';
import { splitList } from '../../src/net/dual.ts';
import { rowId } from '../../src/nb/row-id.ts';
import type { AddressObject } from '../../src/world/address-objects.ts';
import { eipKindOf, eipOfRule, NAT_RULES } from '../../src/world/nat-rules.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';
import { isInPlace, textOf } from './reading.ts';

export function eipsCarriedOut(world: World): readonly Finding[] {
  const held = addressObjects(world).filter(({ held, resource }) => held !== undefined && resource !== 'vips');
  const eips = new Map(held.map((eip) => [`${eip.kind} ${eip.name}`, eip]));
  const used = new Set<string>();
  const marks = NAT_RULES.flatMap((resource) =>
    [...world.natRules[resource].entries()].flatMap(([name, rule]) => {
      const eip = eips.get(`${eipKindOf(resource)} ${eipOfRule(rule)}`);
      if (eip === undefined) return [];
      const { labels = {}, annotations = {}, creationTimestamp } = rule.metadata;
      const gone = (eip.resource === 'ovn-eips' ? world.ovnEips : world.iptablesEips).peek(eip.name)?.metadata.deletionTimestamp;
      // One that came when the EIP was being deleted, made or edited, has nothing of it: `latecomers.ts`.
      const seen = annotations[annotationKey.vpcEip];
      if (gone !== undefined && seen !== eip.name && (creationTimestamp > gone || seen !== undefined)) return [];
      used.add(`${eip.kind} ${eip.name}`);
      const wanted = {
        [labelKey.subnet]: eip.subnet,
        [labelKey.eipV4]: eip.held?.v4 ?? '',
        ...(resource.startsWith('ovn-') && { [labelKey.eipV6]: addressLabelValue(eip.held?.v6 ?? '') }),
      };
      const named = annotations[annotationKey.vpcEip];
      return [
        ...Object.entries(wanted)
          .filter(([key, value]) => labels[key] !== value)
          .map(([key, value]) => told(resource, name, `label ${key} is ${labels[key] ?? 'not there'}, and not "${value}"`)),
        ...(named === eip.name ? [] : [told(resource, name, `EIP that it is marked with is ${named ?? 'none'}, and not ${eip.name}`)]),
      ];
    }),
  );
  const ports = held.filter((eip) => !eip.terminating || used.has(`${eip.kind} ${eip.name}`)).flatMap((eip) => portFaults(world, eip));
  return [...marks, ...ports, ...held.flatMap((eip) => usesFaults(world, eip))];
}

function told(kind: string, name: string, what: string): Finding {
  return { kind: `says ${kind} ${what.split(' ')[0] ?? ''}`, message: `${kind} ${name}: ${what}` };
}

/** Kinds of rules, as the contract has them in `status.nat`, in this order. */
const USES = [
  ['dnat', 'ovn-dnat-rules', 'iptables-dnat-rules'],
  ['fip', 'ovn-fips', 'iptables-fip-rules'],
  ['snat', 'ovn-snat-rules', 'iptables-snat-rules'],
] as const;

/** Who uses it, by kind. */
function usesFaults(world: World, { resource, kind, name, terminating }: AddressObject): readonly Finding[] {
  const status = (resource === 'ovn-eips' ? world.ovnEips : world.iptablesEips).peek(name)?.status;
  const uses = USES.filter(([, ...resources]) =>
    resources.some(
      (rules) => eipKindOf(rules) === kind && [...world.natRules[rules].entries()].some(([, rule]) => eipOfRule(rule) === name),
    ),
  );
  const wanted = uses.map(([use]) => use).join();
  return terminating || (status?.nat ?? '') === wanted
    ? []
    : [told(kind, name, `status.nat is "${status?.nat ?? ''}", and not "${wanted}"`)];
}

/** Of a node that is a gateway. While somebody else goes first, or another program has a row of that name, it waits. */
function portFaults(world: World, eip: AddressObject): readonly Finding[] {
  const { kind, name, subnet, type, typeInEffect, held, conditions } = eip;
  const object = world.subnets.peek(subnet);
  if ((typeInEffect ?? type) !== 'lsp' || object === undefined || !isInPlace(object)) return [];
  if (conditions.some((one) => one.type === 'AddressConflict' && one.status === 'True')) return [];
  const rows = world.rows.rowsOf(rowId('Logical_Switch_Port', name));
  if (rows.length > 0 && rows.every(({ ownership }) => ownership.kind !== 'ours')) return [];
  const stations = rows.flatMap(({ row }) => textOf(row?.['addresses']).split(' '));
  // It may have come before its Subnet, which has another network.
  const cidrs = splitList(object.spec.cidrBlock ?? '').flatMap((cidr) => parseCidr(cidr) ?? []);
  const isIn = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => cidrContains(cidr, address));
  };
  if (![held?.v4 ?? '', held?.v6 ?? ''].every((text) => text === '' || isIn(text))) return [];
  const lacks = [held?.v4 ?? '', held?.v6 ?? ''].filter((text) => text !== '' && !stations.includes(text));
  return lacks.map((text) => told(kind, name, `port with ${text} is not there`));
}
