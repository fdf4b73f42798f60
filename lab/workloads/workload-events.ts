/** Events of the workload controllers about creations and deletions, with the messages of kube-controller-manager. */
import type { KubeClient } from '../../src/kube/client/client.ts';
import { EventRecorder } from '../../src/kube/events/event-recorder.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { DEPLOYMENTS, STATEFUL_SETS, type Workload } from './workload.ts';

export class WorkloadEvents {
  readonly #client: KubeClient;
  /** By the kind of the workload: each kind has its own controller. */
  readonly #recorders = new Map<string, EventRecorder>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** A Deployment reports its new ReplicaSets when it scales them. */
  created(resource: Resource, workload: Workload, name: string): void {
    if (resource === DEPLOYMENTS) return;
    const message =
      resource === STATEFUL_SETS ? `create Pod ${name} in StatefulSet ${workload.metadata.name} successful` : `Created pod: ${name}`;
    this.#record(resource, workload, 'Normal', 'SuccessfulCreate', message);
  }

  /** @param why the API server's message */
  refused(resource: Resource, workload: Workload, name: string, why: string): void {
    if (resource === DEPLOYMENTS)
      this.#record(resource, workload, 'Warning', 'ReplicaSetCreateError', `Failed to create new replica set "${name}": ${why}`);
    else {
      const message =
        resource === STATEFUL_SETS
          ? `create Pod ${name} in StatefulSet ${workload.metadata.name} failed error: ${why}`
          : // Without the random name, which would differ at each attempt.
            `Error creating: ${why.replaceAll(`"${name}"`, `"${workload.metadata.name}-"`)}`;
      this.#record(resource, workload, 'Warning', 'FailedCreate', message);
    }
  }

  deleted(resource: Resource, workload: Workload, name: string): void {
    if (resource === DEPLOYMENTS) return;
    const message =
      resource === STATEFUL_SETS ? `delete Pod ${name} in StatefulSet ${workload.metadata.name} successful` : `Deleted pod: ${name}`;
    this.#record(resource, workload, 'Normal', 'SuccessfulDelete', message);
  }

  scaled(deployment: Workload, set: string, from: number, to: number): void {
    if (from === to) return;
    const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${set} to ${to}`;
    this.#record(DEPLOYMENTS, deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.close()));
  }

  #record(resource: Resource, { metadata }: Workload, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const component = `${resource.kind.toLowerCase()}-controller`;
    let recorder = this.#recorders.get(component);
    if (recorder === undefined) this.#recorders.set(component, (recorder = new EventRecorder({ client: this.#client, component })));
    const { name, namespace, uid } = metadata;
    recorder.record({ target: { resource, name, namespace, uid }, type, reason, message });
  }
}
