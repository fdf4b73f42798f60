/** The Subnets with a port in a Vlan. One of another plugin may name a Vlan, and has no port. */
import { isOvnProvider } from '../../../api/names.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { SetDefinition } from '../../../engine/sets/set-definition.ts';
import type { World } from '../../../world/world.ts';
import { defineSet, where } from '../../../world/world.ts';

export function vlanOfSubnet(world: World, subnet: string): readonly string[] {
  const { vlan = '', provider = '' } = world.ask(subnetIntent, subnet)?.spec ?? {};
  return vlan === '' || !isOvnProvider(provider) ? [] : [vlan];
}

export const subnetsOnVlan: SetDefinition<World> = defineSet(
  'subnets-on-vlan',
  (world, value) => [{ kind: 'bucket', table: world.subnets, index: 'vlan', value }],
  where((world, vlan, name) => vlanOfSubnet(world, name).includes(vlan)),
);
