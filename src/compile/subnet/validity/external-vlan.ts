/** An edit that puts an external Subnet on another physical network, while EIPs in it reach the outside by the present one. */
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { subnetVlanExchanged } from '../../../api/validation/subnet-conflicts.ts';
import { externalUsers } from '../../../kinds/subnet/dependencies/external-users.ts';
import { vlanState } from '../../../kinds/vlan/rules/vlan-state.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import type { World } from '../../../world/world.ts';
import { changeUnderPods, mayChangeUnderPods } from './change-under-pods.ts';
import { usersText } from './gateway-users.ts';

/**
 * Undefined if an administrator allows it, if the present Vlan does not exist any more, which another one mends, or if both are one network.
 * Computed only while such an edit is made. @param before the spec in effect
 */
export function externalVlanExchanged(world: World, before: Pick<SubnetSpec, 'vlan'>, after: SubnetIntent): Finding | undefined {
  const [from = '', to = ''] = [before.vlan, after.spec.vlan];
  const { name } = after.metadata;
  if (from === '' || to === '' || from === to || mayChangeUnderPods(after)) return undefined;
  const [present, next] = [world.ask(vlanState, from), world.ask(vlanState, to)];
  if (present === undefined || (present.providerNetwork === next?.providerNetwork && present.tag === next.tag)) return undefined;
  const users = world.ask(externalUsers, name);
  return users.count === 0 ? undefined : subnetVlanExchanged(name, { from, to }, usersText(users), changeUnderPods(name));
}
