/**
 * Links of ports by name. OVN follows the name of a router port, whoever's that is: a link to another one's would lead into another router,
 * and cut that one's own link off.
 */
import { switchToRouterPort } from '../api/names.ts';
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId } from '../nb/row-id.ts';
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

/** Another Subnet's port that has this router port as its other side, and gives it up as soon as that is known to be another's. */
export function isLinkedByAnother(world: World, routerPort: RowId, subnet: string): boolean {
  const name = identityOf(routerPort);
  // The name joins those of a router and a switch, and either may have the same sign within.
  for (let end = name.indexOf('-'); end >= 0; end = name.indexOf('-', end + 1)) {
    const other = name.slice(end + 1);
    if (other === subnet) continue;
    const link = rowId('Logical_Switch_Port', switchToRouterPort(other, name.slice(0, end)));
    if (world.rows.state(link)?.ownership.kind === 'ours' && routerPortOf(world, link) === name) return true;
  }
  return false;
}

/** The name that a port of a switch has for its other side; empty for none. */
export function routerPortOf(world: World, link: RowId): string {
  const options = world.rows.column(link, 'options');
  return String((options instanceof Map ? options.get('router-port') : undefined) ?? '');
}
