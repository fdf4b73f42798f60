/**
 * What follows from a pod, one interface at a time: the wish for an address, the IP object, the port, the annotations. One run states
 * them all, since each step reads what the one before it reads.
 */
import type { Reason } from '../../api/reasons.ts';
import { DEFAULT_PROVIDER } from '../../api/well-known.ts';
import { keysOf } from '../../world/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import type { Output } from '../output.ts';
import { annotationOutputs, conditionOutputs } from './pod-annotations.ts';
import type { Binding } from './pod-binding.ts';
import { bindingOf } from './pod-binding.ts';
import { isAllocated } from './pod-interface.ts';
import { interfacesOf } from './pod-interfaces.ts';
import { ipOutputs } from './pod-ip.ts';
import { hasPodNetwork } from './pod-life.ts';
import { portGroupOutputs, portOutputs } from './pod-port.ts';
import { unplugOutputs } from './pod-unplug.ts';
import { podView } from './pod-view.ts';

export const pod: Rule = {
  name: 'pod',
  over: (world) => keysOf(world.pods, hasPodNetwork),
  run: (world, key) => {
    const view = world.ask(podView, key);
    if (view === undefined || !view.alive) return [];
    const { interfaces, problem } = interfacesOf(world, view);
    const bindings = interfaces.map((nic) => bindingOf(world, nic));
    // Nothing half bound: while one interface cannot be had, none that has nothing yet is begun.
    const waits = problem !== undefined || bindings.some(({ demand }) => demand.kind === 'waiting' || demand.kind === 'pending');
    const begun = bindings.filter(isBegun);
    const open = waits ? [] : bindings.filter((binding) => !isBegun(binding));
    return [
      ...begun.flatMap((binding) => interfaceOutputs(world, binding)),
      ...(open.every(isGranted) ? open.flatMap((binding) => interfaceOutputs(world, binding)) : wishesOf(open)),
      ...annotationOutputs(world, view, bindings, problem),
      ...conditionOutputs(world, view, bindings, problem),
      ...unplugOutputs(world, view, interfaces),
    ];
  },
};

/** It has an IP object or is in use. */
function isBegun({ nic, ip, ownRow }: Binding): boolean {
  return ip !== undefined || ownRow || isAllocated(nic);
}

function isGranted({ demand, leads, reservation }: Binding): boolean {
  return demand.kind !== 'wish' || !leads || reservation?.kind === 'granted';
}

/** Refusals that no other holder's going mends. */
const OF_ITSELF: ReadonlySet<string> = new Set<Reason>(['AddressOutOfRange', 'InvalidIPFamily', 'NoSubnet']);

/**
 * While something asked for is impossible, that alone goes on asking, and nothing is held of the rest. Where others are in the way,
 * interfaces are asked for one after the other, in one order for all pods, the pod's own last: so pods that want the last addresses of the
 * same networks neither wait for each other in a circle nor take turns for ever.
 */
function wishesOf(open: readonly Binding[]): readonly Output[] {
  const refused = open.filter(({ reservation }) => reservation?.kind === 'refused');
  const impossible = refused.some(({ reservation }) => reservation?.kind === 'refused' && OF_ITSELF.has(reservation.code));
  const asking = refused.length === 0 ? open : impossible ? refused : upToFirst(refused, open);
  return asking.flatMap(({ demand, leads }) => (demand.kind === 'wish' && leads ? [demand] : []));
}

function upToFirst(refused: readonly Binding[], open: readonly Binding[]): readonly Binding[] {
  const rank = ({ nic }: Binding): string => `${nic.provider === DEFAULT_PROVIDER ? 1 : 0} ${nic.provider}`;
  const ordered = open.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  return ordered.slice(0, ordered.findIndex((binding) => refused.includes(binding)) + 1);
}

function interfaceOutputs(world: World, binding: Binding): readonly Output[] {
  const { demand, leads } = binding;
  if (!leads) return portGroupOutputs(binding);
  return [...(demand.kind === 'wish' ? [demand] : []), ...ipOutputs(world, binding), ...portOutputs(world, binding)];
}
