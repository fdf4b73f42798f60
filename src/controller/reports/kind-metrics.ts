import type { MetricSink } from '../../runtime/metrics.ts';
import type { World } from '../../world/world.ts';

/** The part `metrics` of the record of a kind. @param named whether names of objects are labels; else metrics are sums */
export type KindMetrics = (metrics: MetricSink, world: World, named: boolean) => void;
