import type { ObservedPod } from './observed-pod.ts';
import type { Step } from './next-step.ts';

/**
 * The strategic merge patch for the status of a pod with running containers. Conditions merge by type, so those of other controllers
 * (`kiln.io/NetworkBound`) stay; addresses are replaced as a whole, so that a pod with new addresses does not keep the old ones.
 */
export function runningStatus(pod: ObservedPod, { node, addresses }: Extract<Step, { kind: 'run' }>, now: string): object {
  const condition = (type: string): object => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: now });
  const hadAddresses = (pod.status?.podIPs?.length ?? 0) > 0;
  const identity = ({ name, image = '' }: { readonly name: string; readonly image?: string }): object => ({
    ...{ name, image, imageID: image, restartCount: 0, ready: true },
    containerID: `stand-in://${pod.metadata.uid ?? ''}-${name}`,
  });
  return {
    status: {
      phase: 'Running',
      hostIP: node.addresses[0],
      podIP: addresses[0],
      podIPs: [...(hadAddresses ? [{ $patch: 'replace' }] : []), ...addresses.map((ip) => ({ ip }))],
      startTime: now,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(condition),
      containerStatuses: pod.spec.containers.map((container) => ({
        ...identity(container),
        started: true,
        state: { running: { startedAt: now } },
      })),
      ...(pod.spec.initContainers === undefined
        ? {}
        : {
            initContainerStatuses: pod.spec.initContainers.map((container) => ({
              ...identity(container),
              state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } },
            })),
          }),
    },
  };
}
