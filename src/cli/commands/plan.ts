/** `kiln plan`: what manifests would do before anybody applies or deletes them. The command only reads: the work is done in memory. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unimplemented-kinds.ts';
import { planGroupLines } from '../../explain/plan-groups.ts';
import { planJson, planLines } from '../../explain/plan-text.ts';
import { isKubeError } from '../../kube/errors.ts';
import { identityOf, tableOf } from '../../nb/row-id.ts';
import type { Replica } from '../../ovsdb/index.ts';
import type { DatabaseSchema } from '../../ovsdb/schema.ts';
import { makesPods } from '../../preview/made-pods.ts';
import { Preview } from '../../preview/preview.ts';
import type { Outcome, Step, WhatIf } from '../../preview/what-if.ts';
import { whatIf } from '../../preview/what-if.ts';
import type { ReviewedObject } from '../../webhook/protocol/admission-review.ts';
import type { ResourceName } from '../../world/resources.ts';
import { keyOf, RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import type { Settings } from '../../world/settings.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { namespaceName } from '../arguments/name-arguments.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import { addNorthboundFlags, observe } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { workloadKindNamed, workloadTree } from '../deletion/workload-owner.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { Manifest } from '../manifests/read-manifests.ts';
import { readManifests } from '../manifests/read-manifests.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';

export interface PlanFlags extends ObservationFlags {
  readonly filename: readonly string[];
  readonly recursive?: boolean;
  readonly delete?: boolean;
  readonly namespace?: string;
  readonly details?: boolean;
  readonly output: 'table' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln plan -f tenant.yaml                      what kubectl apply -f tenant.yaml would do to the network; it finds OVN by itself
  kiln plan -f deploy/ -R -n shop               all manifests of a directory and those below it
  helm template shop | kiln plan -f -           of a chart
  kiln plan -f tenant.yaml --delete             what kubectl delete -f tenant.yaml would do, and what would wait
`;

const EXIT_CODES = `
Exit codes: 0 no changes, 1 changes, or an object is refused, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 4 timed out.
`;

export function addPlan(program: Command): void {
  const command = program
    .command('plan')
    .description('print what applying or deleting manifests would do: refusals, addresses, rows, pods that lose their network; reads only')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .requiredOption('-f, --filename <path>', 'file, directory, or - for standard input; may be repeated', gathered, [])
    .option('-R, --recursive', 'also directories in directories')
    .option('--delete', 'plan the deletion of the objects')
    .option('-n, --namespace <name>', "namespace of objects that name none (default: the context's)", namespaceName)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', ...STRUCTURED_FORMATS]).default('table'))
    .option('--details', 'one line for each row and object that changes, instead of one for each kind of change');
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: PlanFlags) => {
    process.exitCode = await onCluster('plan', flags, (io) => runPlan(flags, io), { onlyReads: true });
  });
}

function gathered(path: string, before: readonly string[]): readonly string[] {
  return [...before, path];
}

/** A manifest with what the user does with it; no step: Kiln does not read its kind, or its pods exist. */
interface Planned {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
  readonly step: Step | undefined;
}

/** @returns the exit code */
export async function runPlan(flags: PlanFlags, io: CommandIo): Promise<number> {
  if (flags.filename.length === 0) throw usage('-f is missing: which manifests?', 'kiln plan -f FILE');
  const manifests = await readManifests('plan', flags.filename, flags.recursive === true);
  const [planned, { preview }] = await Promise.all([
    Promise.all(manifests.map((manifest) => plannedOf(manifest, flags, io))),
    openedPreview('plan', flags, io),
  ]);
  const anyway = preview.settle();
  const waiting = anyway.rows.length + anyway.objects.length;
  if (waiting > 0) io.say(`hint: the controller has ${waiting} changes to write already, which are not listed: kiln diff`);
  const features = new Map(UNIMPLEMENTED_KINDS.map(({ resource, feature }) => [resource, feature]));
  const steps = planned.flatMap(({ step }) => step ?? []);
  const result = whatIf(preview, steps, (resource, object) => features.get(resource)?.(object as unknown as Untrimmed));
  for (const failure of preview.failures) io.say(`warning: a rule failed, so the plan may lack changes: ${failure}`);
  const report = reportOf(planned, result);
  if (flags.output === 'table') io.out(tableOfPlan(report, result, flags.details === true));
  else io.out(structuredText(flags.output, 'ManifestPlan', { ...report, ...planJson(result.written) }));
  const count = result.written.rows.length + result.written.objects.length;
  const isChanged = report.manifests.some(({ action }) => !['unchanged', 'absent', 'not read', 'exists'].includes(action));
  if (count === 0 && !isChanged) io.say('nothing changes');
  return count === 0 && !isChanged ? EXIT.fine : EXIT.findings;
}

export interface OpenedPreview {
  readonly preview: Preview;
  /** As they were read. */
  readonly rows: Replica;
  readonly schema: DatabaseSchema;
}

function usage(why: string, next: string): CommandFailure {
  return new CommandFailure(EXIT.usage, 'kiln plan was not run', why, next);
}

/**
 * A controller in memory, of what is observed once. Without `--ovn-nb` it finds OVN by itself.
 * @param command the name of the command, for a failure
 * @param settings instead of those of the leader
 */
export async function openedPreview(command: string, flags: ObservationFlags, io: CommandIo, settings?: Settings): Promise<OpenedPreview> {
  const way = await wayToNorthbound(command, flags, io, 'reads');
  io.say(`reading Kubernetes, and OVN by ${way.text}`);
  const observation = await observe(flags, io, way, { leavesRows: true, ...(settings === undefined ? {} : { settings }) });
  // From here on nothing of it changes.
  await observation.close();
  const { world, replica, schema, northboundRead, northboundProblem } = observation;
  if (!northboundRead || replica === undefined || schema === undefined)
    throw new CommandFailure(
      EXIT.unreachable,
      `kiln ${command} could not read the Northbound database`,
      northboundProblem ?? `${way.text} did not answer`,
      'kiln status',
    );
  return {
    preview: new Preview({ world, rows: replica, schema, now: new Date().toISOString().replace(/\.\d+Z$/, 'Z') }),
    rows: replica,
    schema,
  };
}

async function plannedOf(manifest: Manifest, flags: PlanFlags, io: CommandIo): Promise<Planned> {
  const { source, ...object } = manifest;
  const resource = resourceOf(manifest);
  const { kind, metadata } = object;
  const namespaced = resource === undefined || traitsOf(resource).namespaced;
  const namespace = namespaced ? (metadata.namespace ?? flags.namespace ?? io.namespace) : '';
  const { namespace: _, ...unplaced } = metadata;
  const placed: ReviewedObject = { ...object, metadata: { ...unplaced, ...(namespace === '' ? {} : { namespace }) } };
  const planned = { kind, namespace, name: metadata.name, source };
  if (resource !== undefined) {
    const live = (await io.client.find(traitsOf(resource), { name: metadata.name, namespace })) as ReviewedObject | undefined;
    const key = keyOf({ metadata: { namespace, name: metadata.name } });
    const step: Step = flags.delete === true ? { kind: 'delete', resource, key, live } : { kind: 'apply', resource, object: placed, live };
    return { ...planned, step };
  }
  const workload = makesPods(kind) ? workloadKindNamed(kind) : undefined;
  if (workload === undefined) return { ...planned, step: undefined };
  const live = await io.client.find(workload, { name: metadata.name, namespace });
  if (flags.delete !== true) return { ...planned, step: live === undefined ? { kind: 'workload', object: placed } : undefined };
  return {
    ...planned,
    step: { kind: 'end', uids: live === undefined ? [] : await uidsBelow(io, kind, live as unknown as AnyObservedObject) },
  };
}

/** Uids of a workload and of the workloads that it made. */
async function uidsBelow({ client }: CommandIo, kind: string, object: AnyObservedObject): Promise<readonly string[]> {
  const resource = workloadKindNamed(kind);
  if (resource === undefined) return [];
  try {
    const tree = await workloadTree(client, resource, object);
    const uids = ({ object: of, workloads }: typeof tree): readonly string[] => [of.metadata.uid, ...workloads.flatMap(uids)];
    return uids(tree);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    return [object.metadata.uid];
  }
}

/** Undefined for a kind, or an object of it, that Kiln does not read. */
function resourceOf({ apiVersion, kind, metadata }: Manifest): ResourceName | undefined {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return RESOURCE_NAMES.find((resource) => {
    const traits = traitsOf(resource);
    return traits.kind === kind && traits.group === group && (traits.only === undefined || traits.only.name === metadata.name);
  });
}

interface Report {
  readonly manifests: readonly (Omit<Planned, 'step'> &
    Omit<Outcome, 'action'> & { readonly action: Outcome['action'] | 'not read' | 'exists' })[];
  readonly addresses: readonly { readonly object: string; readonly addresses: readonly string[] }[];
  readonly networks: readonly (Omit<WhatIf['networks'][number], 'resource' | 'key'> & { readonly object: string })[];
  readonly waits: readonly { readonly object: string; readonly message: string }[];
  readonly faults: readonly { readonly object: string; readonly message: string }[];
  readonly conflicts: readonly { readonly table: string; readonly name: string; readonly message: string }[];
}

function reportOf(planned: readonly Planned[], result: WhatIf): Report {
  const outcomes = result.outcomes.values();
  const object = ({ resource, key }: { readonly resource: ResourceName; readonly key: string }): string =>
    `${traitsOf(resource).kind} ${key}`;
  return {
    manifests: planned.map(({ step, ...named }) => {
      const none = { action: makesPods(named.kind) ? 'exists' : 'not read', denials: [], warnings: [] } as const;
      return { ...named, ...(step === undefined ? none : (outcomes.next().value ?? none)) };
    }),
    addresses: result.addresses.map((one) => ({ object: object(one), addresses: one.addresses })),
    networks: result.networks.map(({ resource, key, ...one }) => ({ object: object({ resource, key }), ...one })),
    waits: result.waits.map((one) => ({ object: object(one), message: one.message })),
    faults: result.faults.map((one) => ({ object: object(one), message: one.message })),
    conflicts: result.conflicts.map(({ id, message }) => ({ table: tableOf(id), name: identityOf(id), message })),
  };
}

/** Lines of a section; `-o json` has the rest. */
const MOST = 20;

function tableOfPlan(report: Report, { written }: WhatIf, details: boolean): readonly string[] {
  const { manifests, addresses, networks, waits, faults, conflicts } = report;
  const width = Math.max(...manifests.map(({ action }) => action.length));
  const group = details ? planLines(written) : written.rows.length + written.objects.length === 0 ? [] : planGroupLines(written);
  return [
    ...section(
      'manifests',
      manifests.flatMap(({ action, kind, namespace, name, denials, warnings }) => {
        const named = `${action.padEnd(width)}  ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
        const note =
          action === 'not read' ? ': Kiln does not read this kind' : action === 'exists' ? ': it exists, and its pods are not planned' : '';
        return [`${named}${note}`, ...denials.map((one) => `  ${one}`), ...warnings.map((one) => `  warning: ${one}`)];
      }),
    ),
    ...section(
      'addresses',
      addresses.map(({ object, addresses: given }) => `${object}  ${given.join(', ')}`),
    ),
    ...section(
      'pods and others that lose or change their network',
      networks.map(({ object, what, before, after, message }) => {
        const to = after.length === 0 || what !== 'moved' ? '' : ` -> ${after.join(', ')}`;
        return `${what}  ${object}  ${before.join(', ')}${to}${message === '' ? '' : `: ${message}`}`;
      }),
    ),
    ...section(
      'deletions that wait',
      waits.map(({ message }) => message),
    ),
    ...section(
      'not in effect',
      faults.map(({ message }) => message),
    ),
    ...section(
      'conflicts',
      conflicts.map(({ message }) => message),
    ),
    ...(group.length === 0 ? [] : ['what the controller would then write', ...group.map((line) => `  ${line}`)]),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length - MOST;
  return [title, ...lines.slice(0, MOST).map((line) => `  ${line}`), ...(more > 0 ? [`  … and ${more} more: -o json lists them`] : []), ''];
}
