/** What a judge is: it watches a cluster as things happen, and says what is wrong when all has come to rest. */
import type { Controller } from '../../../src/controller/controller.ts';
import type { KubeRequest } from '../../../src/kube/transport.ts';
import type { RowDifference } from '../../../src/ovsdb/testing/simulated/database.ts';
import type { Execution } from '../../../src/ovsdb/testing/simulated/transaction.ts';
import type { World } from '../../../src/world/world.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { SimulatedController } from '../cluster/simulated-controller.ts';

export interface Finding {
  /** The same between runs and while a history is shortened: what is wrong, not with which object. */
  readonly kind: string;
  readonly message: string;
  /** Name of the judge. */
  readonly judge?: string;
}

/** All has come to rest. */
export interface Rest {
  readonly cluster: SimulatedCluster;
  /** A process that has just started, has read everything, and may not write. */
  readonly fresh: Controller;
  readonly world: World;
  /** Nodes that were lost are lost still. */
  readonly lost: boolean;
}

/** A transaction of a controller, after it took effect or failed. */
export interface Transacted {
  readonly process: string;
  readonly execution: Execution;
  readonly operations: readonly unknown[];
  /** What others changed of which the sender had not heard. */
  readonly unheard: readonly RowDifference[];
}

export interface Judge {
  /** A process sends a request, or a transaction where there is no request. @returns what is wrong with it, as the rest of a sentence */
  sending?(sender: SimulatedController, request: KubeRequest | undefined): readonly string[];
  /** Right before a transaction of a controller takes effect. @returns as above */
  transacting?(operations: readonly unknown[]): readonly string[];
  /** @returns as above */
  transacted?(transaction: Transacted): readonly string[];
  /** A person, or another program, changed rows. */
  changedByHand?(differences: readonly RowDifference[]): void;
  /** A process was started, leads, or was told that the database refuses a transaction. */
  process?(name: string, what: 'started' | 'leads' | 'refused'): void;
  /** @returns what is wrong */
  atRest?(rest: Rest): readonly Finding[];
  /** All was judged, and nothing was wrong: what is so now is compared with the next rest. */
  remember?(): void;
}
