/**
 * A change of `spec.mtu` under running pods, whose interfaces keep theirs: large packets between them and new pods would be lost. The MTU
 * that they were made with is recorded in an annotation of the Subnet and in the switch: no annotation of a pod has it. It stays there, and
 * in DHCP, until they are gone or an administrator allows the change. Node agents read the spec for new pods, so that the rule reports what
 * the webhook denies, and cannot prevent it.
 */
import type { Finding } from '../../../api/validation/finding.ts';
import { subnetMtuChanged } from '../../../api/validation/subnet-conflicts.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import { MTU_KEY } from '../../../nb/ownership.ts';
import { rowId } from '../../../nb/row-id.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { changeUnderPods, mayChangeUnderPods } from './change-under-pods.ts';
import { podsInSubnet, usersText } from './gateway-users.ts';
import { subnetBasics } from './spec-in-effect.ts';

/** `spec.mtu` of running pods (0 for the default), or that of the spec where no pod has another one. */
export function mtuInEffect(world: World, subnet: string): number {
  return world.ask(mtuUnderPods, subnet)?.mtu ?? world.ask(subnetBasics, subnet)?.mtu ?? 0;
}

/** The finding while running pods have another MTU than the spec. */
export function mtuInUse(world: World, subnet: string): Finding | undefined {
  const found = world.ask(mtuUnderPods, subnet);
  return found === undefined ? undefined : subnetMtuChanged(subnet, found.requested, found.users, changeUnderPods(subnet));
}

/** Cost: one pass over the Subnet's pods, only while the spec has another MTU than the record. */
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

/**
 * The annotation outlives the switch, which is lost with the database, or comes back from a backup with an older MTU. The default has no
 * annotation, unless another MTU is requested. Undefined for a switch of Kube-OVN, which records none.
 */
function recordedMtu(world: World, name: string): number | undefined {
  const id = rowId('Logical_Switch', name);
  const ownership = world.rows.state(id)?.ownership;
  if (ownership !== undefined && ownership.kind !== 'ours') return undefined;
  const noted = mtuOf(world.ask(subnetIntent, name)?.metadata.annotations?.[kilnAnnotation.mtu]);
  if (noted !== undefined) return noted;
  const keys = ownership === undefined ? undefined : world.rows.column(id, 'external_ids');
  const inSwitch = mtuOf(keys instanceof Map ? keys.get(MTU_KEY) : undefined);
  return inSwitch ?? (ownership === undefined && world.ask(isEditedSinceAccepted, name) ? 0 : undefined);
}

function mtuOf(text: unknown): number | undefined {
  return typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}

/** Whether the Subnet was in effect, and not with its present spec. A query of one value: the status changes often. */
const isEditedSinceAccepted: Query<boolean> = defineQuery('subnet-edited-since-accepted', (world, name) => {
  const { metadata, status } = world.subnets.get(name) ?? {};
  const accepted = status?.conditions?.find(({ type, status: is }) => type === 'Accepted' && is === 'True');
  return accepted !== undefined && accepted.observedGeneration !== metadata?.generation;
});
