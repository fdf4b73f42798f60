/**
 * The journal: what is deleted from the Northbound database or overwritten in it, written before it is sent. An entry is one line of JSON.
 * The Northbound writer is the only one that adds changes; `kiln history` and `kiln undo` read them.
 */
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';

/** A value as JSON: a list for a set, an object for a map, null for no value. */
export type JsonValue = string | number | boolean | null | readonly (string | number | boolean)[] | Readonly<Record<string, JsonAtom>>;
export type JsonAtom = string | number | boolean;
/** The columns of a row, without those that are empty. */
export type JsonRow = Readonly<Record<string, JsonValue>>;

/** A row that refers to the journaled row. `parent`: it keeps the row alive. */
export interface JournaledReference {
  readonly kind: 'parent' | 'member';
  readonly table: string;
  readonly uuid: Uuid;
  readonly id: RowId;
  readonly column: string;
}

/** Why Kiln changes the row. */
export type JournalReason =
  /** No rule asks for the row any more: its object is gone, or wants something else. */
  | 'unexplained'
  /** It is made again, in another parent or with another UUID. */
  | 'replaced'
  /** Another row has the same identity. */
  | 'duplicate'
  /** It was inside a row that is deleted. */
  | 'inside'
  /** Kube-OVN made it, and Kiln takes it over. */
  | 'adopted'
  /** The rules ask for other contents. */
  | 'changed'
  /** Another program had changed it. */
  | 'repaired'
  /** `kiln restore` made it as a backup has it. */
  | 'restored';

/** A pair of states: before, and as written. Null for a key or value that is absent. */
export type BeforeAfter = readonly [before: JsonValue, after: JsonValue];

export interface JournaledChange {
  readonly kind: 'change';
  /** The transaction: `<term>.<number>`. */
  readonly tx: string;
  readonly change: 'delete' | 'overwrite';
  readonly table: string;
  readonly id: RowId;
  readonly uuid: Uuid;
  /** Owner text `<kind>/<namespace>/<name>`; empty for a row that is not Kiln's. */
  readonly owner: string;
  /** Whose a foreign row is, which only a restore overwrites or deletes. Without owner and neighbour it is Kube-OVN's. */
  readonly neighbour?: string;
  readonly uid: string;
  readonly reason: JournalReason;
  /** Of a deletion: the whole row. Of an overwrite: without its sets, which `removed` has the changes of. */
  readonly row: JsonRow;
  readonly references: readonly JournaledReference[];
  /** Of an overwrite: whole columns. */
  readonly columns?: Readonly<Record<string, BeforeAfter>>;
  /** Of an overwrite: keys of maps. */
  readonly keys?: Readonly<Record<string, Readonly<Record<string, BeforeAfter>>>>;
  /** Of an overwrite: members that a set loses. */
  readonly removed?: Readonly<Record<string, readonly JsonAtom[]>>;
}

export interface JournaledTransaction {
  readonly kind: 'transaction';
  readonly tx: string;
  /** RFC 3339, when it was about to be sent. */
  readonly at: string;
  /** Number of changes; they follow. */
  readonly changes: number;
}

export interface JournaledOutcome {
  readonly kind: 'outcome';
  readonly tx: string;
  readonly at: string;
  /** `unknown`: sent, and there was no answer. `unsent`: this process lost the lead first. */
  readonly outcome: 'committed' | 'rejected' | 'unknown' | 'unsent';
  readonly error?: string;
}

/** `kiln undo` restored rows. */
export interface JournaledUndo {
  readonly kind: 'undo';
  readonly at: string;
  readonly by: string;
  readonly transactions: readonly string[];
  readonly rows: number;
}

/** The journal can be written again. */
export interface JournaledResumption {
  readonly kind: 'resumed';
  readonly at: string;
  /** Why it could not be written. */
  readonly after: string;
}

export type JournalEntry = JournaledTransaction | JournaledChange | JournaledOutcome | JournaledUndo | JournaledResumption;

/** Where the Northbound writer writes. */
export interface Journal {
  /** False: nothing is journaled. */
  readonly isOn: boolean;
  /** Why it cannot be written; undefined while it can. */
  readonly failure: string | undefined;
  /** Writes entries so that they survive the loss of power. @returns false if that failed; then `failure` says why */
  append(entries: readonly JournalEntry[]): Promise<boolean>;
  /** Adds an entry that may be lost: what the row changes were, and when, is known without it. */
  note(entry: JournalEntry): void;
  /** Calls back when the journal fails, and when it can be written again. */
  onState(changed: () => void): void;
  /** An overwrite was sent although the journal could not be written. */
  missed(rows: number): void;
  /** Waits for what is being written. */
  close(): Promise<void>;
  /** Since this process began. */
  readonly counts: { readonly bytes: number; readonly missedRows: number };
}

/** For a process without a journal. */
export const NO_JOURNAL: Journal = {
  isOn: false,
  failure: undefined,
  append: () => Promise.resolve(true),
  note: () => undefined,
  onState: () => undefined,
  missed: () => undefined,
  close: () => Promise.resolve(),
  counts: { bytes: 0, missedRows: 0 },
};
