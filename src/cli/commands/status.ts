/** `kiln status`: leader, databases, number of objects and findings, on one screen. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Option } from 'commander';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unimplemented-kinds.ts';
import type { Observation } from '../../controller/reading/observation.ts';
import { readOlderDefinitions } from '../../controller/reading/older-definitions.ts';
import { ageText } from '../../explain/age.ts';
import type { Chosen, ClusterStatus, Finding, ProblemKind } from '../../explain/status.ts';
import { namespaceProblem, ofNamespace, REPORTED_RESOURCES, statusOf } from '../../explain/status.ts';
import { isKubeError } from '../../kube/errors.ts';
import { keyOf } from '../../kube/resource.ts';
import { TERM_KEY } from '../../nb/ownership.ts';
import { rowId } from '../../nb/row-id.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, BRIEFLY, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { Leader } from '../cluster/leader.ts';
import { wayIfAny } from '../cluster/northbound-way.ts';
import type { NorthboundWay } from '../connection/northbound-ways.ts';
import { addSettingsFlags, leaderOf } from '../cluster/leader.ts';
import { typeText } from '../arguments/object-argument.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags, observe } from '../cluster/observe.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import type { Output } from '../output/terminal.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';

export interface StatusFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | 'name' | StructuredFormat;
  readonly namespace?: string;
  readonly selector?: string;
  readonly watch?: boolean;
}

const EXAMPLES = `
Examples:
  kiln status                                   one screen; exit code 1 if there are findings, whatever notes there are
  kiln status -n shop                           objects of one namespace
  kiln status -l team=web -o wide               all findings of objects with this label
  kiln status -o json | jq .findings            for programs
  kiln status --watch                           print again at each change, until Ctrl-C
`;

const EXIT_CODES = `
Exit codes: 0 no findings (notes do not count), 1 findings or no leader, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 4 timed out.
`;

/** Displayed findings, the most serious first; the others are counted. */
const SHOWN = 20;

/** A pod without a network comes before a running pod. */
const GRAVITY: Readonly<Record<ProblemKind, number>> = {
  conflict: 0,
  'not ready': 1,
  blocked: 2,
  'nearly full': 3,
  'not admitted': 4,
  misbound: 5,
  'without effect': 6,
  outdated: 7,
  'left over': 8,
};

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('print the leader, the number of objects, and objects that are blocked, in conflict, not ready or nearly full')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('-n, --namespace <name>', 'only objects of this namespace: its pods and addresses, its Subnets, their Vpcs')
    .addOption(new Option('-A, --all-namespaces', 'all namespaces (the default)').conflicts('namespace'))
    .option('-l, --selector <labels>', "only objects with these labels, in kubectl's syntax: a=b, a!=b, a in (b,c), a, !a")
    .option('-w, --watch', 'print again at each change, until Ctrl-C')
    .addOption(
      new Option('-o, --output <format>', `output format; table: ${SHOWN} findings, wide: all findings with their objects`)
        .choices(['table', 'wide', 'name', ...STRUCTURED_FORMATS])
        .default('table'),
    );
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: StatusFlags) => {
    process.exitCode = await onCluster('status', flags, (io) => runStatus(flags, io), BRIEFLY);
  });
}

/** Interval of a fresh look: the expiry of a Lease changes no object. */
const LOOK_MS = 5_000;
/** Changes within this time are displayed together. */
const GATHER_MS = 300;

/** @returns the exit code; with `--watch` never, since Ctrl-C ends the process */
export async function runStatus(flags: StatusFlags, io: CommandIo): Promise<number> {
  const labelled = flags.selector === undefined ? undefined : await withLabels(flags.selector, io);
  const way = await wayIfAny(flags, io, flags.watch === true ? 'writes' : 'reads');
  await using observation = await observe(flags, io, way, { follows: flags.watch === true });
  await readOlderDefinitions(io.client, observation.world, kindsInUse(observation.world));
  let screen = await statusScreen(observation, way, flags, io, labelled);
  for (let printed = ''; flags.watch === true;) {
    if (screen.changing !== printed) io.out(printed === '' ? screen.output : screen.following);
    printed = screen.changing;
    await observation.changed(LOOK_MS);
    await sleep(GATHER_MS);
    screen = await statusScreen(
      observation,
      way,
      flags,
      io,
      flags.selector === undefined ? undefined : await withLabels(flags.selector, io),
    );
  }
  io.out(screen.output);
  return screen.exit;
}

/** Resources that have objects. */
function kindsInUse({ tables, unimplemented }: World): ReadonlySet<ResourceName> {
  const resources = RESOURCE_NAMES;
  return new Set([
    ...resources.filter((resource) => (tables[resource]?.size ?? 0) > 0),
    ...[...unimplemented.entries()].map(([, { resource }]) => resource),
  ]);
}

interface StatusScreen {
  readonly output: Output;
  /** The same text, separated from the previous one. */
  readonly following: Output;
  /** Equal if nothing except times has changed. */
  readonly changing: string;
  readonly exit: number;
}

async function statusScreen(
  observation: Observation,
  way: NorthboundWay | undefined,
  flags: StatusFlags,
  io: CommandIo,
  labelled: Labelled | undefined,
): Promise<StatusScreen> {
  const now = Date.now();
  const leader = await leaderOf(io, flags.leaseNamespace);
  const { world, northboundRead, schemaVersion, northboundProblem } = observation;
  const status = statusOf(world, northboundRead, chosenBy(flags, world, labelled));
  if (labelled !== undefined && Object.keys(status.counts).length === 0)
    throw new CommandFailure(
      EXIT.findings,
      'kiln status has nothing to show',
      `no object${flags.namespace === undefined ? '' : ` of namespace ${flags.namespace}`} has the labels "${flags.selector ?? ''}"`,
      'kubectl get vpcs,subnets --show-labels',
    );
  const externalIds = world.rows.column(rowId('NB_Global', ''), 'external_ids');
  const term = externalIds instanceof Map ? String(externalIds.get(TERM_KEY) ?? '') : '';
  const northbound: Northbound = {
    endpoint: way?.text ?? null,
    read: northboundRead,
    schema: schemaVersion ?? null,
    ...(northboundRead || northboundProblem === undefined ? {} : { problem: northboundProblem }),
    ...(leader?.live !== true || leader.northboundFailure === undefined ? {} : { refusal: leader.northboundFailure }),
    ...(leader?.live !== true || leader.northboundLoss === undefined ? {} : { loss: leader.northboundLoss }),
    ...(leader?.live !== true || leader.journalFailure === undefined ? {} : { journal: leader.journalFailure }),
    ...(leader?.live !== true || leader.collectionPause === undefined ? {} : { collection: leader.collectionPause }),
  };
  const output = outputOf(flags, status, leader, term, northbound, now);
  const unreachable = northbound.endpoint !== null && !northboundRead;
  const isTroubled = [northbound.refusal, northbound.loss, northbound.journal, northbound.collection].some(
    (trouble) => trouble !== undefined,
  );
  const fine = leader?.live === true && !isTroubled && status.findings.length === 0;
  return {
    output,
    following: typeof output !== 'string' ? ['', ...output] : flags.output === 'yaml' ? `---\n${output}` : output,
    changing: JSON.stringify([leader?.identity, leader?.live, term, northbound, status]),
    exit: unreachable ? EXIT.unreachable : fine ? EXIT.fine : EXIT.findings,
  };
}

function outputOf(
  { output }: StatusFlags,
  status: ClusterStatus,
  leader: Leader | undefined,
  term: string,
  northbound: Northbound,
  now: number,
): Output {
  if (output === 'name') return status.findings.map(nameText);
  if (output === 'table' || output === 'wide') return statusLines(status, leader, term, northbound, now, output);
  const {
    settings = null,
    version = null,
    northboundFailure: _refusal,
    northboundLoss: _loss,
    journalFailure: _journal,
    collectionPause: _pause,
    ...held
  } = leader ?? {
    ...{ settings: undefined, version: undefined, northboundFailure: undefined, northboundLoss: undefined, journalFailure: undefined },
    collectionPause: undefined,
  };
  return structuredText(output, 'Status', {
    leader: leader === undefined || leader.identity === '' ? null : { ...held, version },
    term: term === '' ? null : term,
    settings,
    northbound,
    ...status,
    rows: status.rows ?? null,
  });
}

type Labelled = ReadonlyMap<ResourceName, ReadonlySet<string>>;

/** Selects by the API server: the cache drops labels that no rule reads, and only the API server knows the whole selector syntax. */
async function withLabels(labelSelector: string, { client }: CommandIo): Promise<Labelled> {
  const unimplemented = UNIMPLEMENTED_KINDS.map(({ resource }) => resource);
  const resources: readonly ResourceName[] = [...new Set([...REPORTED_RESOURCES, ...unimplemented])];
  const found = await Promise.all(
    resources.map(async (resource) => {
      try {
        const objects = await client.listAll(traitsOf(resource), { labelSelector });
        return [resource, new Set(objects.map(({ metadata }) => keyOf(metadata)))] as const;
      } catch (error) {
        if (isKubeError(error, 'KUBE_NOT_SERVED') || isKubeError(error, 'KUBE_NOT_FOUND')) return [resource, new Set<string>()] as const;
        if (!isKubeError(error, 'KUBE_BAD_REQUEST')) throw error;
        throw new CommandFailure(EXIT.usage, `-l "${labelSelector}" is not a label selector`, error.message, 'kiln status --help');
      }
    }),
  );
  return new Map(found);
}

function chosenBy({ namespace }: StatusFlags, world: World, labelled: Labelled | undefined): Chosen | undefined {
  if (namespace === undefined && labelled === undefined) return undefined;
  const problem = namespace === undefined ? undefined : namespaceProblem(world, namespace);
  if (problem !== undefined) throw new CommandFailure(EXIT.findings, 'kiln status has nothing to show', problem, 'kubectl get namespaces');
  const inNamespace = namespace === undefined ? undefined : ofNamespace(namespace, world);
  return (resource, key, object) =>
    inNamespace?.(resource, key, object) !== false && (labelled === undefined || labelled.get(resource)?.has(key) === true);
}

interface Northbound {
  readonly endpoint: string | null;
  readonly read: boolean;
  readonly schema: string | null;
  readonly problem?: string;
  /** Why the database rejects all transactions of the controller. */
  readonly refusal?: string;
  /** Why the controller cannot follow the database, even if this command can. */
  readonly loss?: string;
  /** Why the controller cannot write its journal. */
  readonly journal?: string;
  /** Why the controller collects no rows for now. */
  readonly collection?: string;
}

function statusLines(
  { counts, rows, foreignRows, neighbours, findings, notes }: ClusterStatus,
  leader: Leader | undefined,
  term: string,
  northbound: Northbound,
  now: number,
  format: 'table' | 'wide',
): readonly string[] {
  const database = northbound.read
    ? `✔ ${northbound.endpoint ?? ''}, schema ${northbound.schema ?? 'unknown'}, ${rows ?? 0} rows of Kiln`
    : northbound.endpoint === null
      ? '- not read (--ovn-nb)'
      : `✖ ${northbound.problem ?? `${northbound.endpoint} was not read: it did not answer in time`}`;
  const gravest = findings.toSorted((a, b) => GRAVITY[a.what] - GRAVITY[b.what]);
  const shown = format === 'wide' ? Number.POSITIVE_INFINITY : SHOWN;
  return [
    `leader      ${leaderText(leader, term, now)}`,
    ...(format === 'wide' ? [`settings    ${settingsText(leader)}`] : []),
    `northbound  ${database}`,
    ...(northbound.loss === undefined ? [] : [`            ✖ the controller cannot follow it: ${northbound.loss}`]),
    ...(northbound.refusal === undefined ? [] : [`            ✖ fails every transaction of the controller: ${northbound.refusal}`]),
    ...(northbound.journal === undefined
      ? []
      : [
          `            ✖ no row is deleted while the journal cannot be written: ${northbound.journal}; free space in its directory (--journal), or make it writable`,
        ]),
    ...(northbound.collection === undefined ? [] : [`            ✖ ${northbound.collection}: kiln gc status`]),
    ...(Object.keys(foreignRows).length === 0
      ? []
      : [`            rows of other programs, which Kiln leaves alone: ${listText(foreignRows)}`]),
    ...(neighbours.length === 0 ? [] : [`            of ${neighboursText(neighbours)}: kiln neighbours`]),
    `objects     ${listText(counts)}`,
    `findings    ${findings.length === 0 ? '✔ none' : `✖ ${findings.length}`}`,
    ...gravest.slice(0, shown).flatMap((one) => findingLines(one, now, format)),
    ...(findings.length > shown
      ? [`  … and ${findings.length - shown} more (${countsText(gravest.slice(shown))}): kiln status -o wide`]
      : []),
    ...(notes.length === 0 ? [] : [`notes       ${notes.length}`]),
    ...notes.slice(0, shown).flatMap((one) => findingLines(one, now, format)),
    ...(notes.length > shown ? [`  … and ${notes.length - shown} more: kiln status -o wide`] : []),
  ];
}

function findingLines(one: Finding<string>, now: number, format: 'table' | 'wide'): readonly string[] {
  const named = format === 'wide' ? `${nameText(one)}  ` : '';
  const age = one.since === '' ? '' : ` (${ageText(now - Date.parse(one.since))})`;
  return [`  ${one.what}  ${named}${one.message}${age}`, `    ${one.next}`];
}

function neighboursText(neighbours: ClusterStatus['neighbours']): string {
  return neighbours
    .map(({ name, rows, touches }) => `${name} ${rows}${touches === 0 ? '' : ` (${touches} touch rows of Kiln)`}`)
    .join(' · ');
}

function listText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(' · ');
}

function countsText(findings: readonly Finding[]): string {
  const counts = Map.groupBy(findings, ({ what }) => what);
  return [...counts].map(([what, { length }]) => `${length} ${what}`).join(', ');
}

function leaderText(leader: Leader | undefined, term: string, now: number): string {
  if (leader === undefined || leader.identity === '') return '✖ none: no controller runs, or another control plane leads';
  const { identity, live, renewed, version } = leader;
  return `${live ? '✔' : '✖'} ${identity}, renewed ${ageText(now - Date.parse(renewed))} ago${term === '' ? '' : `, term ${term}`}${version === undefined ? '' : `, kiln ${version}`}`;
}

function settingsText(leader: Leader | undefined): string {
  if (leader?.settings === undefined) return '- not published';
  const { defaultVpc, defaultSubnet, defaultCidr, joinSubnet, joinCidr, serviceCidr, misbound, tenancy } = leader.settings;
  return `default Vpc ${defaultVpc} · default Subnet ${defaultSubnet} ${defaultCidr} · nodes ${joinSubnet} ${joinCidr} · Services ${serviceCidr} · misbound ${misbound} · tenancy ${tenancy}`;
}

/** The name as `kubectl get -o name` prints it, with the namespace if there is one. */
function nameText({ resource, key }: Finding<string>): string {
  return `${resource === 'customresourcedefinitions' ? `${resource}.apiextensions.k8s.io` : typeText(resource)}/${key}`;
}
