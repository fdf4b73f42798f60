/** The dependency of a user of IP objects on them. */
import type { Dependency } from '../../../blockers/dependency.ts';
import { defineSet } from '../../../world/world.ts';
import type { IpUser } from './ip-user.ts';
import { ipUser } from './ip-user.ts';

/** @param named IP objects that a user may have, by its key: those that it uses are among them */
export function usesIps(
  dependent: IpUser['resource'],
  named: (...of: Parameters<Dependency['dependsOn']>) => Iterable<string>,
): Dependency {
  return {
    on: 'ips',
    dependent,
    dependents: defineSet(`${dependent}-of-ip`, (world, ip) => {
      const user = world.ask(ipUser, ip);
      return [{ kind: 'keys', keys: user?.resource === dependent ? [user.key] : [] }];
    }),
    dependsOn: (world, key) => [...named(world, key)].filter((ip) => world.ask(ipUser, ip)?.key === key),
  };
}
