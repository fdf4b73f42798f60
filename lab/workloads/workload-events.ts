/** What the controllers of workloads tell of what they make and delete, in the words of kube-controller-manager. */
import type { KubeClient } from '../../src/kube/client.ts';
import { EventRecorder } from '../../src/kube/event-recorder.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { DEPLOYMENTS, STATEFUL_SETS, type Workload } from './workload.ts';

export class WorkloadEvents {
  readonly #client: KubeClient;
  /** By the kind of workload: each has a controller of its own. */
  readonly #recorders = new Map<string, EventRecorder>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** A Deployment tells of the ReplicaSets that it makes when it scales them. */
  created(resource: Resource, workload: Workload, name: string): void {
    if (resource === DEPLOYMENTS) return;
    const message =
      resource === STATEFUL_SETS ? `create Pod ${name} in StatefulSet ${workload.metadata.name} successful` : `Created pod: ${name}`;
    this.#tell(resource, workload, 'Normal', 'SuccessfulCreate', message);
  }

  /** @param why in the words of the API server */
  refused(resource: Resource, workload: Workload, name: string, why: string): void {
    if (resource === DEPLOYMENTS)
      this.#tell(resource, workload, 'Warning', 'ReplicaSetCreateError', `Failed to create new replica set "${name}": ${why}`);
    else {
      const message =
        resource === STATEFUL_SETS
          ? `create Pod ${name} in StatefulSet ${workload.metadata.name} failed error: ${why}`
          : // A name that chance made is not told: it is another at each try.
            `Error creating: ${why.replaceAll(`"${name}"`, `"${workload.metadata.name}-"`)}`;
      this.#tell(resource, workload, 'Warning', 'FailedCreate', message);
    }
  }

  deleted(resource: Resource, workload: Workload, name: string): void {
    if (resource === DEPLOYMENTS) return;
    const message =
      resource === STATEFUL_SETS ? `delete Pod ${name} in StatefulSet ${workload.metadata.name} successful` : `Deleted pod: ${name}`;
    this.#tell(resource, workload, 'Normal', 'SuccessfulDelete', message);
  }

  scaled(deployment: Workload, set: string, from: number, to: number): void {
    if (from === to) return;
    const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${set} to ${to}`;
    this.#tell(DEPLOYMENTS, deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.close()));
  }

  #tell(resource: Resource, { metadata }: Workload, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const component = `${resource.kind.toLowerCase()}-controller`;
    let recorder = this.#recorders.get(component);
    if (recorder === undefined) this.#recorders.set(component, (recorder = new EventRecorder({ client: this.#client, component })));
    const { name, namespace, uid } = metadata;
    recorder.record({ target: { resource, name, namespace, uid }, type, reason, message });
  }
}
