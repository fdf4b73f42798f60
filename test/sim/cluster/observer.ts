/** The checks watch a simulated cluster while it runs. The cluster knows them only by this interface. */
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { RowDifference } from '../../../src/ovsdb/simulated/database.ts';
import type { Execution } from '../../../src/ovsdb/simulated/transaction.ts';
import type { SimulatedController } from './simulated-controller.ts';

export interface Finding {
  /** The same in each run and while a history is shortened: it names the fault, not the object. */
  readonly kind: string;
  readonly message: string;
  /** Name of the check. */
  readonly check?: string;
}

/** A transaction of a controller, after it took effect or failed. */
export interface Transacted {
  readonly process: string;
  readonly execution: Execution;
  readonly operations: readonly unknown[];
  /** Changes by others that had not reached the sender yet. */
  readonly unreceived: readonly RowDifference[];
}

export interface Observer {
  /** A process sends a request, or a transaction if `request` is undefined. @returns what is wrong with it, as the rest of a sentence */
  sending?(sender: SimulatedController, request: KubeRequest | undefined): readonly string[];
  /** Called right before a transaction of a controller takes effect. @returns as above */
  transacting?(operations: readonly unknown[]): readonly string[];
  /** @returns as above */
  transacted?(transaction: Transacted): readonly string[];
  /** An object or row changed. @param key of an object; undefined for a row */
  changed?(table: string, key?: string): void;
  /** A user, or another program, changed rows. */
  changedByHand?(differences: readonly RowDifference[]): void;
  /** A process was started, leads, or received an error for a transaction. */
  process?(name: string, what: 'started' | 'leads' | 'failed'): void;
  /** Faults ended and messages take no time (true), or both are possible again (false). */
  quietly?(quietly: boolean): void;
}
