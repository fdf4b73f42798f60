/** The type of a scene. */
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Random } from '../../cluster/random.ts';
import type { Step } from '../../steps/step.ts';

/** @returns steps in order; none if the cluster lacks the object for the scene. Each scene uses names of its own. */
export type Scene = (random: Random, cluster: SimulatedCluster) => readonly Step[];
