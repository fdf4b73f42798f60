/**
 * Backups as files: compressed, readable for their owner alone, named by their time. A backup is written under another name, read back and
 * verified, and renamed then.
 */
import { open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { BackupFacts, ReadBackup } from './database-file.ts';
import { databaseFile, factsOf, readDatabaseFile } from './database-file.ts';
import type { Snapshot } from './snapshot.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** No Northbound database is larger; a file that grows beyond it was made to exhaust the memory. */
const MOST_BYTES = 2 ** 30;
const NAME = /^kiln-nb-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.db\.gz$/;

export interface WrittenBackup {
  readonly path: string;
  /** Compressed. */
  readonly bytes: number;
  readonly facts: BackupFacts;
}

export function backupName(wallTime: number): string {
  return `kiln-nb-${new Date(wallTime).toISOString().replaceAll(/[-:.]/g, '')}.db.gz`;
}

/**
 * @param wallTime milliseconds
 * @throws Error of the file system, or if the file that was written does not verify
 */
export async function writeBackup(snapshot: Snapshot, path: string, wallTime: number): Promise<WrittenBackup> {
  const facts = factsOf(snapshot, new Date(wallTime).toISOString());
  const bytes = await compress(databaseFile(snapshot, facts));
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const read = await readBackup(temporary);
    if (!read.ok) throw new Error(`the backup that was written does not verify: ${read.problem}`);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
  return { path, bytes: bytes.length, facts };
}

/** Reads and verifies a backup, compressed or not. @throws Error if the file cannot be read at all */
export async function readBackup(path: string): Promise<ReadBackup> {
  const bytes = await readFile(path);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return readDatabaseFile(bytes);
  try {
    return readDatabaseFile(await decompress(bytes, { maxOutputLength: MOST_BYTES }));
  } catch (error) {
    return { ok: false, problem: compressionProblem(error) };
  }
}

function compressionProblem(error: unknown): string {
  const code: unknown = (error as { readonly code?: unknown } | null)?.code;
  if (code === 'Z_BUF_ERROR') return 'it is truncated: the compressed data ends too early';
  if (code === 'ERR_BUFFER_TOO_LARGE') return `it is larger than ${MOST_BYTES / 2 ** 20} MiB`;
  return `it is damaged: ${error instanceof Error ? error.message : String(error)}`;
}

export interface ListedBackup {
  readonly path: string;
  /** When it was made, in milliseconds. */
  readonly at: number;
  readonly bytes: number;
}

/** The backups of a directory, by their names, the newest first. */
export async function listBackups(directory: string): Promise<readonly ListedBackup[]> {
  const found: ListedBackup[] = [];
  for (const name of await readdir(directory)) {
    const parts = NAME.exec(name);
    if (parts === null) continue;
    const [, year, month, day, hour, minute, second, ms] = parts;
    const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
    const path = join(directory, name);
    const size = await stat(path).then(
      (one) => one.size,
      () => undefined,
    );
    if (size !== undefined && !Number.isNaN(at)) found.push({ path, at, bytes: size });
  }
  return found.toSorted((a, b) => b.at - a.at);
}

/** Deletes the oldest backups of a directory. @returns the deleted files */
export async function keepNewest(directory: string, keep: number): Promise<readonly string[]> {
  const old = (await listBackups(directory)).slice(Math.max(keep, 1));
  for (const { path } of old) await unlink(path);
  return old.map(({ path }) => path);
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
