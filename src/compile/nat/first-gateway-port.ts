/**
 * The load balancer of an OvnDnatRule in a router with ports in several external Subnets. ovn-northd before 24.09 binds it to the first of the
 * router's gateway ports, by UUID, whatever its address is: at another one the answers leave untranslated.
 */
import type { RowId } from '../../nb/row-id.ts';
import { GLOBAL_ROW } from '../../nb/global-keys.ts';
import { identityOf } from '../../nb/row-id.ts';
import type { World } from '../../world/world.ts';
import { routerId } from '../vpc/vpc-view.ts';
import { externalPortId } from './external-ports.ts';
import type { Translation } from './nat-pairs.ts';

/** The first version that binds it to each gateway port: year and month. */
const SINCE = 2409;

/** Why no connection through the load balancer of a rule works; undefined if OVN is newer, or its port is the first one. */
export function notFirstPort(world: World, { vpc, external }: Translation): string | undefined {
  const version = northdVersion(world);
  const [, year = '', month = ''] = /^(\d\d)\.(\d\d)\b/.exec(version) ?? [];
  if (year === '' || Number(year + month) >= SINCE) return undefined;
  const own = externalPortId(vpc, external);
  const [first] = gatewayPorts(world, vpc);
  if (first === undefined || first === own) return undefined;
  return `OVN ${version} translates it at router port ${identityOf(first)} alone, the first of the gateway ports of Vpc ${vpc}, and its address is behind ${identityOf(own)}; name an OvnEip of that other Subnet, or run OVN 24.09 or newer`;
}

/** Text such as `23.03.1-20.27.0-70.6`; empty while it is not known. */
function northdVersion(world: World): string {
  const options = world.rows.column(GLOBAL_ROW, 'options');
  const version: unknown = options instanceof Map ? options.get('northd_internal_version') : undefined;
  return typeof version === 'string' ? (version.split('-', 1)[0] ?? '') : '';
}

/** In the order in which ovn-northd reads them. */
function gatewayPorts(world: World, router: string): readonly RowId[] {
  const ports = world.rows.column(routerId(router), 'ports');
  return [...(ports instanceof Set ? ports : [])]
    .map(String)
    .toSorted()
    .flatMap((uuid) => {
      const id = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.id;
      if (id === undefined) return [];
      const isSet = (column: string): boolean => {
        const value = world.rows.column(id, column);
        return value instanceof Set ? value.size > 0 : value !== undefined && value !== null;
      };
      return isSet('gateway_chassis') || isSet('ha_chassis_group') ? [id] : [];
    });
}
