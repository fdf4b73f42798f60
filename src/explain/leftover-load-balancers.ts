/** Load balancers that Kube-OVN before 1.15 left without any key, and where a load balancer is in effect. */
import { hasNoKey } from '../diff/keys-inside.ts';
import { isKeyless } from '../nb/ownership.ts';
import { identityOf } from '../nb/row-id.ts';
import { referringColumns } from '../nb/tables.ts';
import type { Entry } from '../world/row-identity.ts';
import type { World } from '../world/world.ts';

/** The switches and routers with each load balancer, by its UUID. */
export type LoadBalancerUsers = ReadonlyMap<unknown, readonly Entry[]>;

/** Cost: one pass over the switches and routers. */
export function loadBalancerUsers({ rows }: World): LoadBalancerUsers {
  const users = new Map<unknown, Entry[]>();
  for (const entry of referringColumns('Load_Balancer').flatMap(({ table }) => rows.inTable(table))) {
    const held = entry.row['load_balancer'];
    if (!(held instanceof Set)) continue;
    for (const uuid of held) {
      const others = users.get(uuid);
      if (others === undefined) users.set(uuid, [entry]);
      else others.push(entry);
    }
  }
  return users;
}

/**
 * Whether it is a load balancer without any key in a legacy switch or router: the take-over that adopts that one writes the vendor key into
 * it.
 */
export function isInLegacy(entry: Entry, users: LoadBalancerUsers): boolean {
  return hasNoKey(entry) && (users.get(entry.uuid) ?? []).some(({ ownership }) => ownership.kind === 'legacy');
}

/** Whether it is a load balancer of Kube-OVN by its name alone. */
export function isKeylessBalancer({ id, table, row, ownership }: Entry): boolean {
  const held = row['external_ids'];
  return table === 'Load_Balancer' && isKeyless(table, identityOf(id), held instanceof Map ? held : undefined, ownership);
}

/** The Vpc that such a load balancer serves by its name: `vpc//<name>`. */
export function vpcOfBalancer({ rows, settings: { defaultVpc } }: World, { id }: Entry): string {
  // The name of those of the default Vpc does not show it.
  return rows.serves(id)?.owner ?? `vpc//${defaultVpc}`;
}
