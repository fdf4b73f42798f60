/**
 * Vip: an address without a single owning pod. Depending on its type it has a port of its own, a virtual port for the pods that declare it,
 * or no rows; a pod may also use its address as its own.
 */
import { blockersOf } from '../../blockers/blockers.ts';
import { vipFindings } from '../../api/validation/vip-eip-validation.ts';
import { cutToLabel } from '../../api/values/label-value.ts';
import { labelKey } from '../../api/well-known.ts';
import { routerToSwitchPort } from '../../api/names.ts';
import { rowId } from '../../nb/row-id.ts';
import { hasRouterMac } from '../../world/address-objects.ts';
import { vipAddresses } from '../../kinds/vip/table/vip-addresses.ts';
import type { AddressObject } from '../../world/address-objects.ts';
import { keysOf } from '../../engine/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { Exclusion } from '../pod/tenancy/tenancy.ts';
import { excludedFromAddress } from '../pod/tenancy/tenancy.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { addressOutputs } from './address-object.ts';
import { unreadAnnotations } from '../unread-annotations.ts';
import { vipIneffective } from './vip-ineffective.ts';
import { vipPorts } from './vip-port.ts';
import { vipUser, vipView } from './vip-view.ts';

export const vip: Rule = {
  name: 'vip',
  over: (world) => keysOf(world.vips),
  run: (world, name) => {
    const observed = world.vips.get(name);
    const view = world.ask(vipView, name);
    if (observed === undefined || view === undefined) return [];
    const object = vipAddresses(observed);
    const { type } = view;
    // The router answers for the address, with the MAC of its own port.
    const ofRouter = hasRouterMac(type);
    const user = world.ask(vipUser, name);
    return addressOutputs(world, object, {
      findings: vipFindings(name, observed.spec),
      exclusion: vipExclusion(world, object, observed.spec.namespace ?? ''),
      ineffective: [
        ...vipIneffective(world, view, observed.spec),
        ...unreadAnnotations({ kind: 'Vip', name }, observed.metadata.annotations),
      ],
      used:
        type !== '' || user !== undefined || world.pods.bucket('allowedPair', name).size > 0 || blockersOf(world, 'vips', name).count > 0,
      labels: () => ({ [labelKey.ipReserved]: cutToLabel(user ?? '') }),
      spec: ({ v4, v6, mac }) => ({ v4ip: v4, v6ip: v6, ...(!ofRouter && { macAddress: mac }) }),
      status: ({ v4, v6, mac }) => ({
        type,
        v4ip: v4,
        v6ip: v6,
        mac: ofRouter ? routerMac(world, object.subnet) : mac,
        selector: view.selector,
      }),
      rows: (addresses) => vipPorts(world, object, view, ofRouter ? { ...addresses, mac: routerMac(world, object.subnet) } : addresses),
    });
  },
};

/** Why a Vip for the pods of a namespace may not have an address: an IPPool for other namespaces has it. @param namespace empty for none */
export function vipExclusion(world: World, { subnet, requested, held }: AddressObject, namespace: string): Exclusion | undefined {
  if (namespace === '' || held !== undefined) return undefined;
  return excludedFromAddress(world, namespace, subnet, [requested.v4, requested.v6]);
}

/** The MAC of the Subnet's router port; empty if there is none. */
function routerMac(world: World, subnet: string): string {
  const view = world.ask(subnetView, subnet);
  const mac = view === undefined ? undefined : world.rows.column(rowId('Logical_Router_Port', routerToSwitchPort(view.vpc, subnet)), 'mac');
  return typeof mac === 'string' ? mac : '';
}
