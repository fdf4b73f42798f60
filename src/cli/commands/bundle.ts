/**
 * `kiln bundle`: one archive for a support request: versions, status, observed objects and rows, the plan, Events and logs. The command
 * reads no Secrets, and archives the fields and texts that `../bundle` lists.
 */
import { open } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Command } from 'commander';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { LEASES, objectPath, PODS } from '../../kube/resource.ts';
import { TABLES } from '../../nb/tables.ts';
import { exactJson } from '../../text/exact-text.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { visible } from '../../text/visible-text.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { archivedColumns, archivedEvent, archivedLease, archivedLog, archivedObject, archivedOutput } from '../bundle/bundle-contents.ts';
import type { KnownNames } from '../bundle/archive-texts.ts';
import { archivedProse } from '../bundle/archive-texts.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT, failureOf } from '../errors/command-failure.ts';
import { LABORATORY_LOG } from '../settings/defaults.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { wayIfAny } from '../cluster/northbound-way.ts';
import { writeWholeFile } from '../output/whole-file.ts';
import { addNorthboundFlags, observe } from '../cluster/observe.ts';
import { outputText } from '../output/terminal.ts';
import type { TarMember } from '../output/tar.ts';
import { tarOf } from '../output/tar.ts';
import { runDiff } from './diff.ts';
import { runStatus } from './status.ts';
import { runVersion } from './version.ts';

export interface BundleFlags extends ObservationFlags {
  readonly file?: string;
}

const EXAMPLES = `
Examples:
  kiln bundle --ovn-nb tcp:10.0.0.1:6641        kiln-bundle-20260101T000000Z.tar.gz in this folder
  kiln bundle --file /tmp/for-support.tar.gz
`;

const EXIT_CODES = `
Exit codes: 0 complete; 1 incomplete, README.txt in the archive lists the missing parts; 2 wrong usage, 3 cluster unreachable or forbidden.
No Secret is read. Objects contain the fields that Kiln reads: pods have no environment, volumes or arguments; annotations of
other programs only their key. Of other texts there is the length. Names and addresses are included unchanged.
`;

/** The last bytes of each log. */
const LOG_BYTES = 5_000_000;
const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };

export function addBundle(program: Command): void {
  const command = program
    .command('bundle')
    .description('write an archive for a support request: versions, status, objects, rows, plan, Events and logs, without secrets')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('-f, --file <path>', 'path of the archive (default: kiln-bundle-<time>.tar.gz in this folder)');
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: BundleFlags) => {
    process.exitCode = await onCluster('bundle', flags, (io) => runBundle(flags, io));
  });
}

/** @returns the exit code */
export async function runBundle(flags: BundleFlags, io: CommandIo): Promise<number> {
  // Fails if the API server is not reachable or denies access: then there is nothing to archive.
  await io.client.version();
  const now = Date.now();
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const file = flags.file ?? `kiln-bundle-${time}.tar.gz`;
  const { members, missing } = await membersOf(flags, io);
  const readme = readmeOf(time, members, missing);
  const all = [{ path: 'README.txt', text: readme }, ...members].map(({ path, text }) => ({ path: `kiln-bundle-${time}/${path}`, text }));
  try {
    // Other users of the host cannot read it, even if they could read a previous file of this name.
    await writeWholeFile(file, gzipSync(tarOf(all, now)), 0o600);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.usage, `--file ${file} cannot be written`, why, 'kiln bundle --file /tmp/kiln-bundle.tar.gz');
  }
  for (const one of missing) io.say(`warning: ${one}`);
  io.out([file]);
  return missing.length === 0 ? EXIT.fine : EXIT.findings;
}

interface Collected {
  readonly members: readonly TarMember[];
  /** Messages about parts that are missing in the archive. */
  readonly missing: readonly string[];
}

async function membersOf(flags: BundleFlags, io: CommandIo): Promise<Collected> {
  const members: TarMember[] = [];
  const missing: string[] = [];
  const collect = async (what: string, texts: () => Promise<readonly TarMember[]>): Promise<void> => {
    io.say(`${what} …`);
    try {
      members.push(...(await texts()));
    } catch (error) {
      missing.push(archivedLines(`${what}: ${failureOf(error, 'bundle').why}`, names));
    }
  };
  const printed = async (run: (io: CommandIo) => Promise<number>): Promise<string> => {
    let text = '';
    await run({ ...io, out: (more) => (text += outputText(more)), say: () => undefined });
    return jsonText(archivedOutput(parseJson(text), names));
  };
  let names: KnownNames = new Set();
  const json = { output: 'json' } as const;
  await collect('versions', async () => [{ path: 'version.json', text: await printed((to) => runVersion({ ...flags, ...json }, to)) }]);
  const way = await wayIfAny(flags, { ...io, say: () => undefined }, 'reads');
  // First, since the other parts may quote the names of the archived objects.
  await collect('objects and rows', async () => {
    await using observation = await observe(flags, { ...io, say: () => undefined }, way);
    if (way !== undefined && !observation.northboundRead)
      missing.push(archivedLines(`Northbound rows: ${observation.northboundProblem ?? 'not read'}`, names));
    names = namesIn(observation.world);
    return [...objectsIn(observation.world, names), ...rowsIn(observation.world, names)];
  });
  await collect('status', async () => [{ path: 'status.json', text: await printed((to) => runStatus({ ...flags, ...json }, to)) }]);
  if (way === undefined)
    missing.push('plan and Northbound rows: no way to the Northbound database was found; --ovn-nb or KILN_OVN_NB names it');
  else await collect('plan', async () => [{ path: 'plan.json', text: await printed((to) => runDiff({ ...flags, ...json }, to)) }]);
  await collect('Events', async () => [
    textOf(
      'events.json',
      (await io.client.listAll<EventObject>(EVENTS)).flatMap((event) => archivedEvent(event, names) ?? []),
    ),
  ]);
  await collect('Lease', async () => {
    const lease = await io.client.find(LEASES, { namespace: flags.leaseNamespace, name: CONTROLLER_LEASE });
    return [textOf('lease.json', lease === undefined ? null : archivedLease({ ...lease }, names))];
  });
  await collect('logs', () => logsOf(flags, io, names, missing));
  return { members, missing };
}

function textOf(path: string, value: unknown): TarMember {
  return { path, text: jsonText(value) };
}

function jsonText(value: unknown): string {
  return `${exactJson(withoutSecrets(stringifyJson(value)))}\n`;
}

function archivedLines(text: string, names: KnownNames): string {
  return visible(archivedProse(withoutSecrets(text), names));
}

function namesIn(world: World): KnownNames {
  const names = new Set<string>();
  for (const table of Object.values(world.tables))
    for (const [, { metadata }] of table?.entries() ?? []) {
      names.add(metadata.name);
      if ('namespace' in metadata && typeof metadata.namespace === 'string') names.add(metadata.namespace);
    }
  for (const { table } of TABLES)
    for (const { ownership, row } of world.rows.inTable(table))
      if (ownership.kind !== 'foreign' && typeof row['name'] === 'string') names.add(row['name']);
  return names;
}

/** The objects of the World, reduced to the fields of the contract. */
function objectsIn(world: World, names: KnownNames): readonly TarMember[] {
  return Object.entries(world.tables).flatMap(([resource, table]) => {
    const objects =
      table === undefined
        ? []
        : [...table.entries()].map(([, object]) =>
            archivedObject(resource as ResourceName, object as unknown as Readonly<Record<string, unknown>>, names),
          );
    return objects.length === 0 ? [] : [textOf(`objects/${resource}.json`, objects)];
  });
}

/** All rows of the tables that Kiln reads, with identity and owner, including foreign rows. */
function rowsIn(world: World, names: KnownNames): readonly TarMember[] {
  return TABLES.flatMap(({ table, columns }) => {
    const rows = world.rows.inTable(table).map(({ id, uuid, ownership, row }) => ({
      id: archivedProse(id, names),
      ownership: archivedOutput(ownership, names),
      uuid,
      row: archivedColumns(row, columns, ownership.kind !== 'foreign', names),
    }));
    return rows.length === 0 ? [] : [textOf(`northbound/${table}.json`, rows)];
  });
}

type EventObject = KubeObject & Readonly<Record<string, unknown>>;

async function logsOf(flags: BundleFlags, { client }: CommandIo, names: KnownNames, missing: string[]): Promise<readonly TarMember[]> {
  const namespace = flags.leaseNamespace;
  const pods = await client.listAll(PODS, { namespace, labelSelector: 'app.kubernetes.io/name=kiln' });
  const ofLaboratory = pods.length === 0 ? await laboratoryLog(flags) : undefined;
  if (pods.length === 0 && ofLaboratory === undefined)
    missing.push(`logs: no pod in namespace ${namespace} has the label app.kubernetes.io/name=kiln; add the controller's log by hand`);
  const found: TarMember[] = ofLaboratory === undefined ? [] : [{ path: 'logs/laboratory.log', text: archivedLog(ofLaboratory, names) }];
  for (const { metadata } of pods) {
    const path = `${objectPath(PODS, { namespace, name: metadata.name }, 'log')}?limitBytes=${LOG_BYTES}&tailLines=20000`;
    try {
      const text = await client.transport.text({
        method: 'GET',
        path,
        subject: { verb: 'get', resource: 'pods/log', name: metadata.name, namespace },
      });
      found.push({ path: `logs/${metadata.name.slice(0, 60)}.log`, text: archivedLog(text, names) });
    } catch (error) {
      missing.push(archivedLines(`log of pod ${namespace}/${metadata.name}: ${failureOf(error, 'bundle').why}`, names));
    }
  }
  return found;
}

/** A laboratory has no pod of the controller; its log is beside its kubeconfig. */
async function laboratoryLog({ kubeconfig = process.env['KUBECONFIG'] ?? '' }: BundleFlags): Promise<string | undefined> {
  const [first = ''] = kubeconfig.split(delimiter);
  if (first === '') return undefined;
  try {
    await using file = await open(join(dirname(first), LABORATORY_LOG), 'r');
    const { size } = await file.stat();
    const start = Math.max(size - LOG_BYTES, 0);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return undefined;
  }
}

function readmeOf(time: string, members: readonly TarMember[], missing: readonly string[]): string {
  return [
    `Written by kiln bundle; time: ${time}.`,
    '',
    ...members.map(({ path, text }) => `${path}  ${Buffer.byteLength(text)} bytes`),
    '',
    ...(missing.length === 0 ? ['Nothing is missing.'] : ['Missing:', ...missing.map((one) => `- ${one}`)]),
    '',
    'No Secret was read. Of annotations and labels that are not of Kiln or Kube-OVN there is the key, of other fields nothing ([dropped]).',
    'A text that is no address, number, name of an object or the like is [text of N characters]; of a log, so is each such word.',
    'Read it before you hand it over.',
    '',
  ].join('\n');
}
