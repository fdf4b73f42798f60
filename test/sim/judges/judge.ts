/** What a judge is: it watches a cluster while it runs, and reports what is wrong when everything is at rest. */
import type { Controller } from '../../../src/controller/controller.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding, Observer } from '../cluster/observer.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';

export type { Finding, Transacted } from '../cluster/observer.ts';

/** All judges of a cluster, by name. */
export type Judges = ReadonlyMap<string, Judge>;

/** Everything is at rest. */
export interface Rest {
  readonly cluster: SimulatedCluster;
  /** A process that has just started, has read everything, and may not write. */
  readonly fresh: Controller;
  readonly world: World;
  /** Nodes that were lost are still lost. */
  readonly lost: boolean;
}

export interface Judge extends Observer {
  /** Now and then while the cluster comes to rest. */
  look?(process: string, controller: Controller): void;
  /** @returns what is wrong */
  atRest?(rest: Rest): readonly Finding[];
  /** All judges have judged and found nothing: the present state is what the next rest is compared with. */
  remember?(): void;
}
