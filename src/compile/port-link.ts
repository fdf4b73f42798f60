/**
 * Links of switch ports to router ports, by name. OVN follows the name, whatever the owner of the router port is: a wrong link would lead
 * into another router, and cut off that router's own link.
 */
import { switchToRouterPort } from '../api/names.ts';
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';

/**
 * Whether a switch port may link to a router port: the router port has the same owner, or does not exist yet. An existing link stays while
 * the router port is foreign: a user may have removed its ownership keys.
 */
export function mayLink(world: World, routerPort: RowId, owner: Omit<Owner, 'uid'>, isLinked: () => boolean): boolean {
  const there = world.rows.state(routerPort)?.ownership;
  if (there === undefined || there.kind === 'legacy') return true;
  return there.kind === 'ours' ? there.owner === ownerText({ ...owner, uid: '' }) : isLinked();
}

/** Whether the switch port of another Subnet links to this router port. It drops the link as soon as the router port has another owner. */
export function isLinkedByAnother(world: World, routerPort: RowId, subnet: string): boolean {
  const name = identityOf(routerPort);
  // The name is `<router>-<switch>`, and both parts may contain the separator.
  for (let end = name.indexOf('-'); end >= 0; end = name.indexOf('-', end + 1)) {
    const other = name.slice(end + 1);
    if (other === subnet) continue;
    const link = rowId('Logical_Switch_Port', switchToRouterPort(other, name.slice(0, end)));
    if (world.rows.state(link)?.ownership.kind === 'ours' && routerPortOf(world, link) === name) return true;
  }
  return false;
}

/** The router port that a switch port links to; empty for none. */
export function routerPortOf(world: World, link: RowId): string {
  const options = world.rows.column(link, 'options');
  return String((options instanceof Map ? options.get('router-port') : undefined) ?? '');
}
