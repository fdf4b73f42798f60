/**
 * The outputs of a pod, one interface at a time: address request, IP object, port, annotations. One run emits all of them, since each step
 * reads the one before.
 */
import { keysOf } from '../../engine/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { Output, AddressRequestOutput } from '../output.ts';
import { annotationOutputs, conditionOutputs } from './annotations/pod-annotations.ts';
import type { Binding } from './address/pod-binding.ts';
import { bindingOf } from './address/pod-binding.ts';
import { isAllocated } from './interface/pod-interface.ts';
import { interfacesOf } from './interface/pod-interfaces.ts';
import { ipOutputs } from './pod-ip.ts';
import { hasPodNetwork } from './view/pod-life.ts';
import { portGroupOutputs, portOutputs } from './port/pod-port.ts';
import { unplugOutputs } from './annotations/pod-unplug.ts';
import { podView } from './view/pod-view.ts';
import { unprovenOutputs } from './annotations/unproven-claims.ts';

export const pod: Rule = {
  name: 'pod',
  over: (world) => keysOf(world.pods, hasPodNetwork),
  early: (world, ip) => {
    const spec = world.ips.peek(ip)?.spec;
    return spec && `${spec.namespace}/${spec.podName}`;
  },
  run: (world, key) => {
    const view = world.ask(podView, key);
    if (view === undefined || !view.alive) return [];
    const { interfaces, problem } = interfacesOf(world, view);
    const bindings = interfaces.map((nic) => bindingOf(world, nic));
    // Never half bound: while one interface waits, no interface without state starts.
    const waits =
      problem !== undefined || bindings.some(({ requestState }) => requestState.kind === 'waiting' || requestState.kind === 'pending');
    const withState = bindings.filter(hasState);
    const notStarted = waits ? [] : bindings.filter((binding) => !hasState(binding));
    // The answer comes before any write, and this rule runs again with it: at a start all pods request at once.
    if (withState.some(isUnanswered))
      return [
        ...withState.flatMap(requestsOf),
        ...(notStarted.every(isGranted) ? notStarted.flatMap(requestsOf) : jointRequestsOf(notStarted)),
      ];
    return [
      ...withState.flatMap((binding) => interfaceOutputs(world, binding)),
      ...(notStarted.every(isGranted) ? notStarted.flatMap((binding) => interfaceOutputs(world, binding)) : jointRequestsOf(notStarted)),
      ...annotationOutputs(world, view, bindings, problem),
      ...conditionOutputs(world, view, bindings, problem),
      ...unplugOutputs(world, view, interfaces),
      ...unprovenOutputs(view, bindings),
    ];
  },
};

/** Whether it has an IP object or is in use. */
function hasState({ nic, ip, ownRow }: Binding): boolean {
  return ip !== undefined || ownRow || isAllocated(nic);
}

function isGranted({ requestState, isPrimary, reservation }: Binding): boolean {
  return requestState.kind !== 'address-request' || !isPrimary || reservation?.kind === 'granted';
}

/** Whether its request has no answer yet. */
function isUnanswered({ requestState, isPrimary, reservation }: Binding): boolean {
  return isPrimary && requestState.kind === 'address-request' && reservation === undefined;
}

function requestsOf({ requestState, isPrimary }: Binding): readonly AddressRequestOutput[] {
  return isPrimary && requestState.kind === 'address-request' ? [requestState] : [];
}

/**
 * The requests of interfaces without state: granted together or not at all. So pods that need the last addresses of the same networks do
 * not wait for each other, and every address in use has an IP object that names its pod.
 */
function jointRequestsOf(notStarted: readonly Binding[]): readonly Output[] {
  const requests = notStarted.flatMap(({ requestState, isPrimary }) =>
    requestState.kind === 'address-request' && isPrimary ? [requestState.request] : [],
  );
  if (requests.length < 2) return requests.map((request) => ({ kind: 'address-request', request }));
  const together = requests.map(({ claimant }) => claimant).toSorted();
  return requests.map((request) => ({ kind: 'address-request', request: { ...request, together } }));
}

function interfaceOutputs(world: World, binding: Binding): readonly Output[] {
  if (!binding.isPrimary) return portGroupOutputs(binding);
  return [...requestsOf(binding), ...ipOutputs(world, binding), ...portOutputs(world, binding)];
}
