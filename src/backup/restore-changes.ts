/** What a restore changes, row by row, and what a person is told of it. */
import type { Atom, InputValue, Uuid, Value } from '../ovsdb/index.ts';

/** A row in words. */
export interface Named {
  readonly table: string;
  readonly uuid: Uuid;
  /** An owner text such as `vpc//blue`, or the name of another program. */
  readonly of: string;
  readonly isOurs: boolean;
  /** Table and name. */
  readonly name: string;
}

export interface RestoredRow extends Named {
  readonly columns: Readonly<Record<string, InputValue>>;
}

export interface RestoredValue extends Named {
  readonly column: string;
  readonly value: Value;
  readonly now: Value;
}

/** Rows that come back into, or go out of, a row that stays as it is. */
export interface RestoredMembers extends Named {
  readonly column: string;
  readonly members: readonly Atom[];
  /** The column holds at most one. */
  readonly isSingle: boolean;
}

export interface RestoredKey {
  readonly column: string;
  readonly key: string;
  readonly value: string;
  readonly now: string | undefined;
}

export interface RestorePlan {
  readonly rows: readonly RestoredRow[];
  readonly values: readonly RestoredValue[];
  readonly members: readonly RestoredMembers[];
  readonly removedMembers: readonly RestoredMembers[];
  readonly deletions: readonly Named[];
  /** Keys of NB_Global. */
  readonly keys: readonly RestoredKey[];
  /** Rows of others that are newer than the backup and stay, by program. */
  readonly newer: Readonly<Record<string, number>>;
  /** Rows of objects that are gone, by owner: they do not come back. */
  readonly gone: Readonly<Record<string, number>>;
  /** Rows of Kiln that exist and differ: the controller decides about them. */
  readonly left: number;
  /** Sentences about rows of others that cannot come back. */
  readonly lost: readonly string[];
  /** Addresses that two ports of a switch would have. */
  readonly shared: readonly SharedAddress[];
}

export interface SharedAddress {
  readonly address: string;
  readonly home: Named;
  /** Two or more; the restore brings back or changes at least one of them. */
  readonly ports: readonly (Named & { readonly isRestored: boolean })[];
}
