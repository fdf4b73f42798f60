/** Which networks have no Subnet, and holders of their addresses. */
import { ipHoldsAddress } from '../../../kinds/ip/dependencies/ip-holds-address.ts';
import type { Ownership } from '../../../nb/ownership.ts';
import { ADDRESS_RESOURCES } from '../../../world/address-objects.ts';
import { NAT_RULES } from '../../../world/nat-rules.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { nodeView } from '../../node/node-view.ts';
import { podView } from '../../pod/view/pod-view.ts';
import { owningSubnet } from '../validity/subnet-state.ts';
import { switchId } from '../validity/subnet-view.ts';

/** Whether no Subnet owns the network of this name, and an address of it is in use. */
export const isOrphaned: Query<boolean> = defineQuery(
  'network-orphaned',
  (world, subnet) =>
    !world.ask(hasOwningSubnet, subnet) && (world.ask(isHeldByIp, subnet) || isHeldByObject(world, subnet) || isHeldByPort(world, subnet)),
);

/** A value, not the object: a status write runs no rule again. */
const hasOwningSubnet: Query<boolean> = defineQuery('has-owning-subnet', (world, name) => owningSubnet(world, name) !== undefined);

/** An IP object that only requests an address does not count: it may wait for a Subnet of that name for ever. */
const isHeldByIp: Query<boolean> = defineQuery('subnet-held-by-ip', (world, subnet) =>
  [...world.ips.bucket('subnet', subnet)].some((ip) => world.ask(ipHoldsAddress, ip)),
);

/** A Vip, an EIP, or a NAT rule with the address of an EIP. */
function isHeldByObject(world: World, subnet: string): boolean {
  return (
    ADDRESS_RESOURCES.some((resource) =>
      [...world.addressObjectsIn(resource, subnet)].some((name) => world.addressObject(resource, name)?.held !== undefined),
    ) || NAT_RULES.some((resource) => world.natRules[resource].bucket('subnet', subnet).size > 0)
  );
}

/** A port in its switch, of a pod or node that exists. */
function isHeldByPort(world: World, subnet: string): boolean {
  const ports = world.rows.column(switchId(subnet), 'ports');
  return [...(ports instanceof Set ? ports : [])].some((uuid) => {
    const ownership = world.rows.byUuid(uuid as Parameters<typeof world.rows.byUuid>[0])?.ownership;
    return ownership?.kind === 'ours' && lives(world, ownership);
  });
}

function lives(world: World, { owner, uid }: Extract<Ownership, { readonly kind: 'ours' }>): boolean {
  const [kind = '', namespace = '', name = ''] = owner.split('/');
  if (kind === 'node') return world.ask(nodeView, name)?.uid === uid;
  const pod = kind === 'pod' ? world.ask(podView, `${namespace}/${name}`) : undefined;
  return pod?.uid === uid && pod.alive;
}
