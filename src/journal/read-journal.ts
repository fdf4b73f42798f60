/** Reads the files of a journal: transactions with their changes and outcomes, and what could not be read. */
import { lstat, readFile, stat } from 'node:fs/promises';
import { journalFiles } from './journal-files.ts';
import type { JournaledChange, JournaledOutcome, JournaledTransaction, JournaledUndo, JournalEntry } from './journal.ts';

export interface ReadTransaction extends JournaledTransaction {
  readonly entries: readonly JournaledChange[];
  /** Undefined: the process ended before it wrote the outcome. */
  readonly outcome: JournaledOutcome | undefined;
}

export interface ReadJournal {
  readonly files: number;
  /** By time. */
  readonly transactions: readonly ReadTransaction[];
  readonly undone: readonly JournaledUndo[];
  /** What cannot be read, each a sentence that names the file and the line. */
  readonly problems: readonly string[];
}

interface Gathered {
  readonly begun: JournaledTransaction;
  readonly entries: JournaledChange[];
  outcome: JournaledOutcome | undefined;
}

/** Characters of a file that are decoded at once would exceed a string's limit otherwise. */
const LONGEST_FILE = 256 * 1024 * 1024;

/** Right of every user of the host to write. */
const BY_EVERYONE = 0o002;

/** @throws the error of the file system if the directory cannot be read; and for one that everyone may write into: an undo carries out what is there */
export async function readJournal(directory: string): Promise<ReadJournal> {
  const folder = await stat(directory);
  if ((folder.mode & BY_EVERYONE) !== 0)
    throw new Error('every user of this host may write into it: look at what is there, and take that right away (chmod o-w)');
  const files = await journalFiles(directory);
  /** The last transaction of each name. A database that was made anew counts its terms from one again. */
  const gathered = new Map<string, Gathered>();
  const all: Gathered[] = [];
  const undone: JournaledUndo[] = [];
  const problems: string[] = [];
  for (const path of files) {
    let text: string;
    try {
      const doubt = await doubtOf(path, folder.uid);
      if (doubt !== undefined) {
        problems.push(`${path} is not read: ${doubt}`);
        continue;
      }
      const bytes = await readFile(path);
      if (bytes.length > LONGEST_FILE) throw new Error(`it has ${bytes.length} bytes`);
      text = bytes.toString('utf8');
    } catch (error) {
      problems.push(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      continue;
    }
    takeFile(path, text, { gathered, all, undone, problems });
  }
  const transactions: ReadTransaction[] = [];
  for (const { begun, entries, outcome } of all) {
    if (entries.length === begun.changes) transactions.push({ ...begun, entries, outcome });
    // The process ended while it wrote: the transaction was not sent.
    else if (outcome !== undefined) problems.push(`transaction ${begun.tx} has ${entries.length} of its ${begun.changes} changes`);
  }
  transactions.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return { files: files.length, transactions, undone, problems };
}

/** Why a file may be another user's words; undefined for one of the directory's owner, of root or of this user. */
async function doubtOf(path: string, owner: number): Promise<string | undefined> {
  const found = await lstat(path);
  const { mode, uid } = found;
  if (!found.isFile()) return 'it is no file itself, as a journal makes them';
  if ((mode & BY_EVERYONE) !== 0) return 'every user of this host may write to it: look at it, and take that right away (chmod o-w)';
  if (![owner, 0, process.getuid?.() ?? 0].includes(uid))
    return `it belongs to user ${uid}, and its directory to user ${owner}: look at it, and give it to that one (chown)`;
  return undefined;
}

interface Reading {
  readonly gathered: Map<string, Gathered>;
  readonly all: Gathered[];
  readonly undone: JournaledUndo[];
  readonly problems: string[];
}

function takeFile(path: string, text: string, { gathered, all, undone, problems }: Reading): void {
  const lines = text.split('\n');
  // A last line without an end was cut off when the process ended or the disk was full: what it belongs to was never sent.
  lines.pop();
  for (const [at, line] of lines.entries()) {
    const entry = parsed(line);
    if (entry === undefined) problems.push(`${path}:${at + 1} is not an entry of a journal`);
    else if (entry.kind === 'transaction') {
      const transaction: Gathered = { begun: entry, entries: [], outcome: undefined };
      gathered.set(entry.tx, transaction);
      all.push(transaction);
    } else if (entry.kind === 'undo') undone.push(entry);
    else if (entry.kind !== 'resumed') {
      const transaction = gathered.get(entry.tx);
      if (entry.kind === 'outcome') {
        // The file with the transaction itself may have been deleted at the size limit.
        if (transaction !== undefined) transaction.outcome = entry;
      } else if (transaction === undefined)
        problems.push(`${path}:${at + 1} belongs to transaction ${entry.tx}, whose beginning is missing`);
      else transaction.entries.push(entry);
    }
  }
}

const TEXTS: Readonly<Record<JournalEntry['kind'], readonly string[]>> = {
  transaction: ['tx', 'at'],
  change: ['tx', 'table', 'id', 'uuid', 'owner', 'uid', 'reason'],
  outcome: ['tx', 'at', 'outcome'],
  undo: ['at', 'by'],
  resumed: ['at', 'after'],
};

/** Undefined for a line that no version of Kiln writes. */
function parsed(line: string): JournalEntry | undefined {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof json !== 'object' || json === null) return undefined;
  const entry = json as Readonly<Record<string, unknown>>;
  const kind = String(entry['kind']);
  if (!Object.hasOwn(TEXTS, kind)) return undefined;
  if (!TEXTS[kind as JournalEntry['kind']].every((field) => typeof entry[field] === 'string')) return undefined;
  if (kind === 'change' && !(isObject(entry['row']) && Array.isArray(entry['references']))) return undefined;
  if (kind === 'transaction' && typeof entry['changes'] !== 'number') return undefined;
  return json as JournalEntry;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
