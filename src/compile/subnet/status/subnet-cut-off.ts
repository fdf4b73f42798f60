/**
 * A frozen Subnet without its router port: another program deleted it, and no rule can emit it before the spec is accepted again; or
 * another object has a router port of its name now.
 */
import { routerToSwitchPort } from '../../../api/names.ts';
import { ownerText } from '../../../nb/ownership.ts';
import { rowId, tableOf } from '../../../nb/row-id.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { World } from '../../../world/world.ts';
import type { SubnetProblem } from '../validity/subnet-acceptance.ts';
import type { SubnetBasics } from '../validity/subnet-basics.ts';
import { subnetOwner } from '../validity/subnet-basics.ts';
import { commandText } from '../../../text/command-text.ts';

/** Undefined if it has its router port, or needs none. */
export function cutOff(world: World, basics: SubnetBasics): SubnetProblem | undefined {
  const owner = subnetOwner(basics);
  if (!basics.routed || [...world.rows.ownedBy(ownerText(owner))].some((id) => tableOf(id) === 'Logical_Router_Port')) return undefined;
  const { name, vpc } = basics;
  const port = routerToSwitchPort(vpc, name);
  const id = rowId('Logical_Router_Port', port);
  if (hasLostOwnershipKeys(world.rows, { id, owner, externalIds: { lr: vpc } })) return undefined;
  const there = world.rows.state(id)?.ownership;
  const what = `Subnet ${name}: its network runs, and Logical_Router_Port ${port}, which links it to Vpc ${vpc},`;
  if (there === undefined)
    return {
      reason: 'RouterPortPending',
      message: `${what} is not in OVN; Kiln creates it again when the spec is accepted: see condition Accepted; ${commandText`kubectl edit subnet ${name}`}`,
    };
  const [kind = '', , ...rest] = there.kind === 'ours' ? there.owner.split('/') : [];
  const holder = there.kind === 'ours' ? `${kind} ${rest.join('/')}` : 'another program';
  const look = commandText`kiln explain ${kind} ${rest.join('/')}`;
  const next =
    there.kind === 'ours'
      ? `rename one of the two; ${look}`
      : commandText`that program must give the name up: ovn-nbctl list Logical_Router_Port ${port}`;
  return { reason: 'RowConflict', message: `${what} belongs to ${holder}; ${next}` };
}
