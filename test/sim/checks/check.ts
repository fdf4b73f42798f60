/** A check watches a cluster while it runs, and reports what is wrong once everything has converged. */
import type { Controller } from '../../../src/controller/controller.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding, Observer } from '../cluster/observer.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';

export type { Finding, Transacted } from '../cluster/observer.ts';

/** All checks of a cluster, by name. */
export type Checks = ReadonlyMap<string, Check>;

/** The cluster once everything has converged. */
export interface ConvergedCluster {
  readonly cluster: SimulatedCluster;
  /** A process that has just started, has read everything, and may not write. */
  readonly fresh: Controller;
  readonly world: World;
  /** Lost nodes are still lost. */
  readonly lost: boolean;
}

export interface Check extends Observer {
  /** Called repeatedly while the cluster converges. */
  poll?(process: string, controller: Controller): void;
  /** @returns what is wrong */
  whenConverged?(converged: ConvergedCluster): readonly Finding[];
  /** Called when all checks found nothing: it keeps the present state, with which the next one compares. */
  baseline?(): void;
}
