import type { LabNode } from './lab-node.ts';
import type { ObservedPod } from './observed-pod.ts';

/** Makes the networks of pods, as a container runtime does for kubelet. A pod is one with its uid. */
export interface Sandboxes {
  /** The addresses of the pod's network; undefined while it has none. */
  addressesOf(pod: ObservedPod): readonly string[] | undefined;
  /**
   * Makes the pod's network, and nothing if it fails.
   *
   * @param signal aborted when the pod is not wanted any more
   * @throws SandboxError
   */
  setUp(pod: ObservedPod, node: LabNode, signal: AbortSignal): Promise<void>;
  /**
   * Removes the pod's network; without effect where there is none.
   *
   * @throws SandboxError
   */
  tearDown(pod: ObservedPod): Promise<void>;
}

/** A network was not made or not removed. The message is for the pod's Event. */
export class SandboxError extends Error {
  override name = 'SandboxError';
  readonly code = 'SANDBOX_FAILED';
  readonly pod: ObservedPod;
  readonly verb: 'set up' | 'tear down';

  constructor(pod: ObservedPod, verb: 'set up' | 'tear down', message: string) {
    super(message);
    this.pod = pod;
    this.verb = verb;
  }
}
