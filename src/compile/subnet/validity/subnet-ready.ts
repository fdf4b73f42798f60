/** Whether new addresses of a Subnet may be allocated. */
import type { Reason } from '../../../api/reasons.ts';
import { blockersOf } from '../../../blockers/blockers.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { SubnetProblem } from './subnet-acceptance.ts';
import { externalNetwork } from './external-network.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import { rowConflictOf } from '../../row-conflict.ts';
import { subnetBasics } from './spec-in-effect.ts';
import { runsOnceAdopted, subnetOwner } from './subnet-basics.ts';
import { commandText } from '../../../text/command-text.ts';

export type SubnetReadiness =
  | { readonly ready: true }
  /** `inProgress`: Kiln is about to write what is missing, so that whatever waits for it reports no Warning. */
  | ({ readonly ready: false; readonly inProgress?: true } & SubnetProblem);

const READY: SubnetReadiness = { ready: true };

export function subnetTerminating(name: string): SubnetProblem {
  return {
    reason: 'SubnetTerminating',
    message: `Subnet ${name} is being deleted and allocates no new address; ${commandText`kubectl describe subnet ${name}`}`,
  };
}

/** The reason on an object that waits for a Subnet that is not ready. Waiting for a Subnet that is being deleted is useless. */
export function reasonToWait({ reason }: SubnetProblem): Reason {
  return reason === 'SubnetTerminating' ? reason : 'WaitingForSubnet';
}

/**
 * Whether a Subnet is being deleted and allocates no new address. The join Subnet, which the cluster needs, allocates them while it has
 * blockers: its deletion waits then. Without blockers it is deleted at once, and a new node gets an address of the Subnet that is created
 * again.
 */
export const isClosed: Query<boolean> = defineQuery('subnet-closed', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  return basics?.terminating === true && !(basics.isJoin && blockersOf(world, 'subnets', name).count > 0);
});

/** Why nothing can be put into the switch that the Subnet of an external Vpc shows. */
export function externalProblem(world: World, name: string): SubnetProblem | undefined {
  if (!world.settings.enableExternalVpc)
    return {
      reason: 'SwitchOfOthers',
      message: `Subnet ${name} shows a switch of another program, and the controller runs without --enable-external-vpc, so that no pod comes into it`,
    };
  if (world.ask(externalNetwork, name) !== undefined) return undefined;
  const look = commandText`ovn-nbctl show ${name}`;
  return {
    reason: 'SwitchOfOthersGone',
    message: `Subnet ${name}: no router of an external Vpc has a port in a switch of another program of this name; ${look}`,
  };
}

/**
 * Whether new addresses of a Subnet may be allocated: it exists, is accepted, is not being deleted, and its switch exists and is ours.
 * Existing addresses stay, ready or not.
 */
export const subnetReady: Query<SubnetReadiness> = defineQuery('subnet-ready', (world, name) => {
  const acceptance = world.ask(subnetAcceptance, name);
  if (acceptance.kind !== 'accepted') return { ready: false, reason: acceptance.reason, message: acceptance.message };
  if (world.ask(isClosed, name)) return { ready: false, ...subnetTerminating(name) };
  const basics = world.ask(subnetBasics, name);
  const problem = basics?.external === true ? externalProblem(world, name) : undefined;
  if (problem !== undefined) return { ready: false, ...problem };
  if (basics?.isOvn === true && !runsOnceAdopted(world, name)) {
    const conflict = rowConflictOf(world, subnetOwner(basics));
    if (conflict !== undefined) return { ready: false, reason: 'RowConflict', message: `Subnet ${name}: ${conflict}` };
    return { ready: false, inProgress: true, reason: 'SwitchPending', message: `Subnet ${name} has no switch in OVN yet` };
  }
  return READY;
});
