/** An edit that makes an external Subnet one with a gateway in OVN, while EIPs in it reach the outside by the physical gateway. */
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { subnetExternalRouted } from '../../../api/validation/subnet-conflicts.ts';
import { externalUsers } from '../../../kinds/subnet/dependencies/external-users.ts';
import type { World } from '../../../world/world.ts';
import { usersText } from './gateway-users.ts';

type GatewayFields = Pick<SubnetSpec, 'vlan' | 'logicalGateway'>;

/** Computed only while such an edit is made. @param before the spec in effect */
export function externalRouted(world: World, subnet: string, before: GatewayFields, after: GatewayFields): Finding | undefined {
  if (isRouted(before) || !isRouted(after)) return undefined;
  const users = world.ask(externalUsers, subnet);
  if (users.count === 0) return undefined;
  const { vlan = '' } = after;
  const [field, value] = vlan === '' ? (['spec.vlan', ''] as const) : (['spec.logicalGateway', 'true'] as const);
  return subnetExternalRouted(subnet, field, value, usersText(users));
}

function isRouted({ vlan = '', logicalGateway }: GatewayFields): boolean {
  return vlan === '' || logicalGateway === true;
}
