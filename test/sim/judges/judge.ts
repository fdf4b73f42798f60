/** A judge is a check: it watches a cluster while it runs, and reports what is wrong once everything has converged. */
import type { Controller } from '../../../src/controller/controller.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding, Observer } from '../cluster/observer.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';

export type { Finding, Transacted } from '../cluster/observer.ts';

/** All judges of a cluster, by name. */
export type Judges = ReadonlyMap<string, Judge>;

/** The state of the cluster once everything has converged. */
export interface Rest {
  readonly cluster: SimulatedCluster;
  /** A process that has just started, has read everything, and may not write. */
  readonly fresh: Controller;
  readonly world: World;
  /** Lost nodes are still lost. */
  readonly lost: boolean;
}

export interface Judge extends Observer {
  /** Called repeatedly while the cluster converges. */
  look?(process: string, controller: Controller): void;
  /** @returns what is wrong */
  atRest?(rest: Rest): readonly Finding[];
  /** Called when all judges found nothing: the present state is the baseline for the next rest. */
  remember?(): void;
}
