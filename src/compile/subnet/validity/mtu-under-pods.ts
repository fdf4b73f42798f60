/**
 * A change of `spec.mtu` under running pods, whose interfaces keep theirs: large packets between them and new pods would be lost. The MTU
 * that they were made with is in the switch. It stays there, and in DHCP, until they are gone or an administrator allows the change. Node
 * agents read the spec for new pods, so that the rule reports what the webhook denies, and cannot prevent it.
 */
import type { Finding } from '../../../api/validation/finding.ts';
import { subnetMtuChanged } from '../../../api/validation/subnet-conflicts.ts';
import { MTU_KEY } from '../../../nb/ownership.ts';
import { rowId } from '../../../nb/row-id.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { changeUnderPods, mayChangeUnderPods } from './change-under-pods.ts';
import { podsInSubnet, usersText } from './gateway-users.ts';
import { subnetBasics } from './subnet-basics.ts';

/** `spec.mtu` of running pods (0 for the default), or that of the spec where no pod has another one. */
export function mtuInEffect(world: World, subnet: string): number {
  return world.ask(mtuUnderPods, subnet)?.mtu ?? world.ask(subnetBasics, subnet)?.mtu ?? 0;
}

/** The finding while running pods have another MTU than the spec. */
export function mtuInUse(world: World, subnet: string): Finding | undefined {
  const found = world.ask(mtuUnderPods, subnet);
  return found === undefined ? undefined : subnetMtuChanged(subnet, found.requested, found.users, changeUnderPods(subnet));
}

/** Cost: one pass over the Subnet's pods, only while the spec has another MTU than the switch. */
const mtuUnderPods: Query<{ readonly mtu: number; readonly requested: number; readonly users: string } | undefined> = defineQuery(
  'subnet-mtu-under-pods',
  (world, name) => {
    const view = world.ask(subnetBasics, name);
    const recorded = view?.isOvn === true ? recordedMtu(world, name) : undefined;
    if (view === undefined || recorded === undefined || recorded === view.mtu) return undefined;
    const subnet = world.ask(subnetIntent, name);
    if (subnet === undefined || mayChangeUnderPods(subnet)) return undefined;
    const users = podsInSubnet(world, name);
    return users.count === 0 ? undefined : { mtu: recorded, requested: view.mtu, users: usersText(users) };
  },
);

/** Undefined for a switch of Kube-OVN, which records none. */
function recordedMtu(world: World, name: string): number | undefined {
  const id = rowId('Logical_Switch', name);
  if (world.rows.state(id)?.ownership.kind !== 'ours') return undefined;
  const keys = world.rows.column(id, 'external_ids');
  const text: unknown = keys instanceof Map ? keys.get(MTU_KEY) : undefined;
  return typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}
