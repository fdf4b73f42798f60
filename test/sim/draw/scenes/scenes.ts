/** Scenes: a few steps in a typical order. Operations drawn one by one hardly ever meet in the order that makes a case. */
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';
import type { Random } from '../../cluster/random.ts';
import { ADDRESS_SCENES } from './addresses.ts';
import { EXTERNAL_SCENES } from './external.ts';
import { NAMESPACE_SCENES } from './namespaces.ts';
import { NODE_SCENES } from './nodes.ts';
import { OUTAGE_SCENES } from './outages.ts';
import { POD_SCENES } from './pods.ts';
import { ROW_SCENES } from './rows.ts';
import type { Scene } from './scene.ts';
import { STATEFUL_SET_SCENES } from './stateful-sets.ts';
import { SUBNET_SCENES } from './subnets.ts';
import { VPC_SCENES } from './vpcs.ts';

const SCENES: Readonly<Record<string, Scene>> = {
  ...SUBNET_SCENES,
  ...VPC_SCENES,
  ...NAMESPACE_SCENES,
  ...POD_SCENES,
  ...STATEFUL_SET_SCENES,
  ...ADDRESS_SCENES,
  ...EXTERNAL_SCENES,
  ...NODE_SCENES,
  ...ROW_SCENES,
  ...OUTAGE_SCENES,
};
const NAMES = Object.keys(SCENES);

export function drawScene(random: Random, cluster: SimulatedCluster): readonly Step[] {
  return SCENES[random.pick(NAMES)]?.(random, cluster) ?? [];
}
