import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

/** Whether the kubelet of a node reports that it is ready; false for a missing node. */
export const nodeReady: Query<boolean> = defineQuery(
  'node-ready',
  (world, name) => world.nodes.get(name)?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true,
);
