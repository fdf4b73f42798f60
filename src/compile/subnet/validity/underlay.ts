/**
 * Underlay Subnets (spec.vlan): their switch reaches the network of the nodes by a port of type localnet. Without one the switch is connected
 * to nothing, and pods wait, unless a logical gateway is their way out. If the Vlan goes, or gets into conflict, while the network runs,
 * its port stays as it is, and the Subnet reports the cause. A port that another program made in the place of ours is enough for pods.
 */
import { localnetPort } from '../../../api/names.ts';
import type { Reason } from '../../../api/reasons.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { vlanState } from '../../../kinds/vlan/rules/vlan-state.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import { commandText } from '../../../text/command-text.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { subnetBasics } from './spec-in-effect.ts';

export type SubnetUnderlay =
  /** An overlay Subnet, or one outside of OVN. */
  | { readonly kind: 'none' }
  | { readonly kind: 'connected'; readonly providerNetwork: string; /** 0 is untagged. */ readonly tag: number }
  /** The spec of its Vlan, or what that names, is not in effect. */
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly message: string };

const NONE: SubnetUnderlay = { kind: 'none' };

/** What the localnet port of a Subnet should be. */
export const subnetUnderlay: Query<SubnetUnderlay> = defineQuery('subnet-underlay', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  if (basics === undefined || !basics.isOvn || basics.vlan === '') return NONE;
  const state = world.ask(vlanState, basics.vlan);
  if (state === undefined) return { kind: 'waiting', ...vlanMissing(name, basics.vlan) };
  const { providerNetwork, tag, problem } = state;
  if (problem === undefined) return { kind: 'connected', providerNetwork, tag };
  return { kind: 'waiting', reason: problem.reason, message: `Subnet ${name}: Vlan ${basics.vlan} is not in effect: ${problem.message}` };
});

function vlanMissing(name: string, vlan: string): { readonly reason: Reason; readonly message: string } {
  const { code, message } = findingOf(
    { kind: 'Subnet', name },
    {
      code: 'VlanMissing',
      field: 'spec.vlan',
      value: vlan,
      problem: 'names a Vlan that does not exist',
      rule: 'it must name one that does; kubectl get vlans',
    },
  );
  return { reason: code, message };
}

export function localnetId(subnet: string): RowId {
  return rowId('Logical_Switch_Port', localnetPort(subnet));
}

/**
 * Whether no pod of an underlay Subnet gets a network for as long as its Vlan, or what that names, is not in effect: none of its addresses counts
 * as available. Not while its network runs.
 */
export const isCutOff: Query<boolean> = defineQuery(
  'subnet-cut-off',
  (world, name) => world.ask(localnetMissing, name) !== undefined && world.ask(subnetUnderlay, name).kind === 'waiting',
);

/** The sentence about an underlay Subnet whose pods have no way out; undefined for any other Subnet. */
export const localnetMissing: Query<string | undefined> = defineQuery('subnet-localnet-missing', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  if (basics === undefined || !basics.isOvn || basics.vlan === '' || basics.routed) return undefined;
  if (world.rows.column(localnetId(name), 'type') === 'localnet') return undefined;
  const underlay = world.ask(subnetUnderlay, name);
  if (underlay.kind === 'waiting') return underlay.message;
  return `Subnet ${name}: its switch has no port ${localnetPort(name)} of type localnet yet; ${commandText`ovn-nbctl show ${name}`}`;
});
