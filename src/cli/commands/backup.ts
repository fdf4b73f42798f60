/** `kiln backup`: the whole Northbound database as one compressed, verified file; or verifies such a file. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { backupName, keepNewest, readBackup, writeBackup } from '../../backup/backup-file.ts';
import type { BackupFacts } from '../../backup/database-file.ts';
import { identityText } from '../../backup/fit.ts';
import { readSnapshot } from '../../backup/snapshot.ts';
import { firstRead } from '../../ovsdb/index.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import { isKubeError } from '../../kube/errors.ts';
import { connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import { commandText } from '../../text/command-text.ts';
import type { OvnFlags } from '../connection/connect.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster, requestTimeoutMs } from '../connection/cluster-command.ts';
import { northboundOf } from '../connection/connect.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import type { NorthboundWay } from '../connection/northbound-ways.ts';
import { addNorthboundFlags, sessionOf } from '../cluster/observe.ts';
import { clusterUid } from '../cluster/cluster-uid.ts';
import { CommandFailure, EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { print, printError, printErrorText } from '../output/terminal.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';

export interface BackupFlags extends ConnectionFlags, Partial<OvnFlags> {
  readonly verify?: string;
  readonly keep?: number;
  readonly output: 'table' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln backup --ovn-nb tcp:10.0.0.1:6641 /var/backups/ovn --keep 14      a new file in this directory; the 14 newest stay
  kiln backup before-upgrade.db.gz                                       this file
  kiln backup --verify before-upgrade.db.gz                              read it, check it, and print what is in it; needs no cluster
The file is what ovsdb-client backup writes, compressed: gunzip makes a database of it that ovsdb-server starts with.
`;

const EXIT_CODES = `
Exit codes: 0 written and verified, 1 not written, or the file to verify is not whole, 2 wrong usage, 3 cluster or database unreachable, or forbidden,
130 interrupted.
`;

export function addBackup(program: Command): void {
  const command = program
    .command('backup')
    .argument('[path]', 'a directory, for a file named by the time, or a file that does not exist yet', '.')
    .description('write the whole Northbound database, rows of all programs, into one compressed and verified file')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--keep <count>', 'delete the oldest backups of the directory beyond this number, after the new one is whole', count)
    .option('--verify <file>', 'write nothing: read this backup and check it')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', ...STRUCTURED_FORMATS]).default('table'));
  addNorthboundFlags(addConnectionFlags(command)).action(async (path: string, flags: BackupFlags) => {
    const { verify } = flags;
    if (verify !== undefined) process.exitCode = await runVerify(verify, flags);
    else if (await knowsCluster(flags))
      process.exitCode = await onCluster('backup', flags, async (io) =>
        runBackup(path, flags, io, await clusterUid(io), await wayToNorthbound('backup', flags, io, 'writes')),
      );
    else process.exitCode = await ended(() => runBackup(path, flags, { out: print, say: printError }, undefined, namedWay(flags)));
  });
}

/** Without a cluster there is nothing to find it by. */
function namedWay(flags: BackupFlags): NorthboundWay {
  const ovnNb = northboundOf(flags);
  if (ovnNb !== undefined) return { text: ovnNb, ovnNb, options: {}, isFound: false };
  throw new CommandFailure(
    EXIT.usage,
    'kiln backup needs the Northbound database',
    'neither --ovn-nb nor KILN_OVN_NB is set',
    'kiln backup --ovn-nb tcp:HOST:6641',
  );
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100_000)
    throw new InvalidArgumentError(`"${text}" is not a whole number from 1 to 100000.`);
  return value;
}

/** The machine of a database may know no Kubernetes cluster, and its database can be saved all the same. */
async function knowsCluster({ kubeconfig, context }: BackupFlags): Promise<boolean> {
  if (kubeconfig !== undefined || context !== undefined || process.env['KUBECONFIG'] !== undefined) return true;
  try {
    await connectionFromKubeconfig({});
    return true;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    printError('warning: no Kubernetes cluster is configured here, so the backup does not name its cluster');
    return false;
  }
}

async function ended(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const failure = failureOf(error, 'backup');
    printErrorText(failureText(failure));
    return failure.exit;
  }
}

/** @param kubernetes the cluster that the database belongs to @returns the exit code */
export async function runBackup(
  path: string,
  flags: BackupFlags,
  io: Pick<CommandIo, 'out' | 'say'>,
  kubernetes: string | undefined,
  way: NorthboundWay,
): Promise<number> {
  if (way.isFound) io.say(`reading OVN by ${way.text}`);
  const now = Date.now();
  const file = await fileFor(path, flags, now);
  const session = await openedSession('backup', flags, way);
  try {
    const written = await writeBackup(await readSnapshot(session, kubernetes), file, now);
    const gone = flags.keep === undefined ? [] : await keepNewest(dirname(file), flags.keep);
    if (flags.output === 'table') io.out([`${written.path}  ${written.bytes} bytes`, ...factLines(written.facts)]);
    else io.out(structuredText(flags.output, 'Backup', { path: written.path, bytes: written.bytes, ...written.facts, deleted: gone }));
    if (gone.length > 0) io.say(`deleted ${gone.length} older ${gone.length === 1 ? 'backup' : 'backups'}`);
    return EXIT.fine;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.findings, `no backup was written to ${file}`, why, commandText`ls -ld ${dirname(file)}`);
  } finally {
    await session.close();
  }
}

async function fileFor(path: string, { keep }: BackupFlags, now: number): Promise<string> {
  const target = resolve(path);
  const found = await stat(target).catch(() => undefined);
  const isDirectory = found?.isDirectory() ?? (path.endsWith('/') || keep !== undefined);
  if (!isDirectory && found !== undefined)
    throw new CommandFailure(
      EXIT.usage,
      'no backup was written',
      `${target} exists, and a backup overwrites nothing`,
      'kiln backup --help',
    );
  try {
    await mkdir(isDirectory ? target : dirname(target), { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.findings, 'no backup was written', why, 'kiln backup --help');
  }
  return isDirectory ? join(target, backupName(now)) : target;
}

/** The server answers nothing else while it composes the whole database, or takes in the rows of a restore: minutes on a slow machine. */
export const PATIENT = { probeIntervalMs: 120_000 } as const;

/** A session that has read the database once. */
export async function openedSession(command: string, flags: BackupFlags, { ovnNb, options }: NorthboundWay): Promise<OvsdbSession> {
  const session = sessionOf(flags, ovnNb, { ...PATIENT, ...options, tables: { NB_Global: ['external_ids'] } });
  try {
    await firstRead(session, requestTimeoutMs(flags));
    return session;
  } catch (error) {
    await session.close();
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(
      EXIT.unreachable,
      `kiln ${command}: the Northbound database cannot be read`,
      why,
      commandText`ovn-nbctl --db=${ovnNb} show`,
    );
  }
}

/** It reads the file alone, and no cluster. */
async function runVerify(path: string, { output }: BackupFlags): Promise<number> {
  return await ended(async () => {
    const { facts } = await verified(path);
    print(output === 'table' ? [`${path} is whole`, ...factLines(facts)] : structuredText(output, 'Backup', { path, ...facts }));
    return EXIT.fine;
  });
}

/** @throws CommandFailure if the file is no whole backup */
export async function verified(path: string): Promise<Extract<Awaited<ReturnType<typeof readBackup>>, { ok: true }>['backup']> {
  const failure = (why: string): CommandFailure =>
    new CommandFailure(
      EXIT.findings,
      `${path} is not a whole backup; nothing was changed`,
      why,
      'choose another backup; kiln backup --verify FILE checks one',
    );
  let read: Awaited<ReturnType<typeof readBackup>>;
  try {
    read = await readBackup(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.findings, `${path} cannot be read; nothing was changed`, why, commandText`ls -l ${path}`);
  }
  if (!read.ok) throw failure(read.problem);
  return read.backup;
}

export function factLines({ at, rows, tables, schemaVersion, identity }: BackupFacts): readonly string[] {
  const counts = Object.entries(tables).map(([table, one]) => `${one} ${table}`);
  return [
    `  made      ${at}`,
    `  database  ${identityText(identity)}, schema ${schemaVersion}${identity.cluster === undefined ? '' : `, cluster ${identity.cluster}`}`,
    `  rows      ${rows}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`,
  ];
}
