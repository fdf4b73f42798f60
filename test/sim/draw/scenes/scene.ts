/** What a scene is. */
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Random } from '../../cluster/random.ts';
import type { Step } from '../../steps/step.ts';

/** @returns steps in their order; none where the cluster has no object for the scene. Each scene has names of its own. */
export type Scene = (random: Random, cluster: SimulatedCluster) => readonly Step[];
