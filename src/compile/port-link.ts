/**
 * Links of ports by name. OVN follows the name of a router port, whoever's that is: a link to another one's would lead into another router,
 * and cut that one's own link off.
 */
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';

/**
 * Whether a port may name a router port as its other side: that is the owner's, or not there yet. A link that is there stays while its
 * router port is not known to be ours: somebody took our marks from it.
 */
export function mayLink(world: World, routerPort: RowId, owner: Omit<Owner, 'uid'>, isLinked: () => boolean): boolean {
  const there = world.rows.state(routerPort)?.ownership;
  if (there === undefined || there.kind === 'legacy') return true;
  return there.kind === 'ours' ? there.owner === ownerText({ ...owner, uid: '' }) : isLinked();
}
