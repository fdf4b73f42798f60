/**
 * `kiln delete`: deletes an object, and with `--cascade` its dependents. It shows the objects and the effect on workloads, asks, deletes
 * the leaves first, each with the displayed uid as a precondition, and waits. It removes no finalizer.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { blockersOf } from '../../blockers/blockers.ts';
import { recreationSentence, deniedDeletionSentence } from '../../blockers/sentences.ts';
import type { Observation } from '../../controller/reading/observation.ts';
import type { Cascade } from '../../explain/cascade.ts';
import { cascadeOf } from '../../explain/cascade.ts';
import { dependentsOf, treeObject } from '../../explain/dependents.ts';
import type { TreeObject } from '../../explain/dependents.ts';
import { foreignHold } from '../../explain/foreign-holds.ts';
import { typedName } from '../../explain/kind-names.ts';
import { objectLine, treeLines } from '../../explain/tree-text.ts';
import { keyOf, traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, duration, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { stepText } from '../deletion/cascade-remainder.ts';
import { runCascade } from '../deletion/cascade-run.ts';
import { requireDeleteRights } from '../deletion/delete-rights.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { NamedObject } from '../arguments/object-argument.ts';
import { existing, objectArgument, typeText } from '../arguments/object-argument.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { wayIfAny } from '../cluster/northbound-way.ts';
import { addNorthboundFlags, observe } from '../cluster/observe.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import type { Line, Output } from '../output/terminal.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import type { Workload } from '../deletion/workload-owner.ts';
import { workloadOf, workloadText } from '../deletion/workload-owner.ts';
import { commandText, inNamespace, nameArgument } from '../../text/command-text.ts';

export const OWNER_POLICIES = ['keep', 'scale', 'delete'] as const;

export interface DeleteFlags extends ObservationFlags {
  readonly namespace?: string;
  readonly cascade?: boolean;
  readonly owners?: (typeof OWNER_POLICIES)[number];
  readonly yes?: boolean;
  readonly dryRun: 'none' | 'client' | 'server';
  readonly timeout: string;
  readonly output: 'table' | 'name' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln delete vpc blue --cascade --dry-run=client       the plan, and its effect on workloads
  kiln delete subnet red --cascade                      print the plan, ask, and wait until all is gone
  kiln delete subnet red --cascade --owners=scale -y    Deployments and StatefulSets of its pods are scaled to 0 first
`;

const EXIT_CODES = `
Exit codes: 0 gone, 1 denied, does not exist, has new dependents or a foreign row in its rows, 2 wrong usage, 3 cluster unreachable or forbidden, 4 timed out, 130 interrupted.
`;

/** Objects of each kind that the tree displays. */
const DRAWN = 20;

export function addDelete(program: Command): void {
  const command = program
    .command('delete')
    .description('delete an object, and with --cascade its dependents first; removes no finalizer')
    .argument('<kind>', 'kind or short name of pods and of kubeovn.io, or KIND/NAME, or KIND/NAMESPACE/NAME')
    .argument('[name]', 'name of the object')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('-n, --namespace <name>', "namespace of the object (default: the context's)")
    .option('--cascade', 'also delete its dependents: Subnets, addresses, pods')
    .addOption(
      new Option(
        '--owners <policy>',
        'what happens to Deployments and other owners of deleted pods: keep (they create new pods), scale to 0, or delete',
      ).choices(OWNER_POLICIES),
    )
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      new Option(
        '--dry-run <mode>',
        'change nothing; client: print what would be deleted; server: also have the API server check each deletion',
      )
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option('--timeout <duration>', 'time limit', duration, '5m')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'name', ...STRUCTURED_FORMATS]).default('table'));
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(
    async (kind: string, name: string | undefined, flags: DeleteFlags) => {
      process.exitCode = await onCluster('delete', flags, (io) => runDelete(kind, name, flags, io));
    },
  );
}

/** @returns the exit code */
export async function runDelete(kind: string, name: string | undefined, flags: DeleteFlags, io: CommandIo): Promise<number> {
  const named = objectArgument('delete', kind, name, flags.namespace ?? io.namespace);
  requireOwnKind(named);
  io.lastWords(() => 'interrupted: nothing was deleted');
  await existing('delete', named, io.client);
  await using observation = await observe(flags, io, await wayIfAny(flags, io, 'writes'), { follows: true });
  const { world } = observation;
  const key = keyOf({ metadata: named });
  if (world.tables[named.resource] === undefined) throw cannotDelete(named, [`there are no rules for ${traitsOf(named.resource).plural}`]);
  const blockers = blockersOf(world, named.resource, key);
  // An object that Kiln would create again is rejected below, with or without `--cascade`.
  if (flags.cascade !== true && blockers.count > 0 && recreationSentence(world.settings, named.resource, key) === undefined)
    throw new CommandFailure(
      EXIT.findings,
      `${typeText(named.resource)}/${named.name} was not deleted`,
      deniedDeletionSentence(world.settings, named.resource, key, blockers),
      blockers.edits[0]?.command ?? `${deleteCommand(named)} --cascade --dry-run=client`,
    );
  const cascade = cascadeOf(world, named.resource, key);
  const workloads = await workloadsOf(cascade, io);
  if (cascade.obstacles.length > 0) throw cannotDelete(named, cascade.obstacles);
  const known = workloads.flatMap(({ workload }) => workload ?? []);
  const owners = flags.owners ?? 'keep';
  const shown = planLines(observation, named, cascade, workloads, flags, io);
  if (flags.dryRun !== 'none') {
    if (flags.output === 'table') io.out(shown);
    else io.out(resultText(flags, cascade, flags.output === 'name' ? cascade.steps.map(stepText) : []));
    if (flags.dryRun === 'client') return EXIT.fine;
    await requireDeleteRights(io.client, cascade.steps, known, owners);
    return await checkOnServer(cascade, io);
  }
  await requireDeleteRights(io.client, cascade.steps, known, owners);
  for (const line of shown) io.say(line);
  if (workloads.length > 0 && flags.owners === undefined)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was deleted',
      `these workloads would create the pods again: ${workloads.map(({ text }) => text).join(', ')}`,
      `choose what happens to them: ${deleteCommand(named)} --cascade --owners=${OWNER_POLICIES.join('|')}`,
    );
  if (flags.yes !== true) {
    if (io.ask === undefined)
      throw new CommandFailure(
        EXIT.usage,
        'nothing was deleted',
        'there is no terminal for the confirmation',
        `${deleteCommand(named)} --cascade --yes`,
      );
    if (!(await io.ask(`Delete ${counted(cascade.steps.length)}? This cannot be undone.`))) {
      io.say('nothing was changed');
      return EXIT.findings;
    }
  }
  // `await` is necessary: the observation closes when this function returns.
  return await runCascade({
    observation,
    cascade,
    workloads: known,
    owners,
    timeoutMs: parseDuration(flags.timeout) ?? 0,
    again: `${deleteCommand(named)} --cascade${flags.owners === undefined ? '' : ` --owners=${flags.owners}`}`,
    leaseNamespace: flags.leaseNamespace,
    report: (gone) => io.out(resultText(flags, cascade, gone)),
    gone: (text) => {
      if (flags.output === 'table') io.out([`${text} deleted`]);
    },
    io,
  });
}

/**
 * Only Kiln's kinds: the deletion of any other object has effects that Kiln does not see, such as the contents of a namespace, the pods of
 * a workload, or what runs on a node.
 */
function requireOwnKind({ resource, namespace, name }: NamedObject): void {
  const { group, kind } = traitsOf(resource);
  if (group === 'kubeovn.io' || resource === 'pods') return;
  throw new CommandFailure(
    EXIT.usage,
    `${typeText(resource)}/${name} is not deleted`,
    `the command is for pods and objects of kubeovn.io; a ${kind} has other dependents`,
    commandText`kubectl delete ${typeText(resource)} ${name} ${inNamespace(namespace)}`,
  );
}

export interface OwningWorkload {
  readonly text: string;
  readonly pods: number;
  /** Undefined for an owner of an unknown kind. */
  readonly workload: Workload | undefined;
}

/** Each workload once, whatever the number of ReplicaSets in between. */
async function workloadsOf({ owned }: Cascade, { client }: CommandIo): Promise<OwningWorkload[]> {
  const found = new Map<string, OwningWorkload>();
  for (const { owner, namespace, pods } of owned) {
    const workload = await workloadOf(client, namespace, owner);
    const text = workload === undefined ? `${owner.kind} ${namespace}/${owner.name}` : workloadText(workload);
    const before = found.get(text)?.pods ?? 0;
    found.set(text, { text, workload, pods: before + pods.length });
  }
  return [...found.values()];
}

function planLines(
  { world, northboundRead }: Observation,
  { resource, ...named }: NamedObject,
  cascade: Cascade,
  workloads: readonly OwningWorkload[],
  { owners }: DeleteFlags,
  { paint }: CommandIo,
): readonly Line[] {
  const key = keyOf({ metadata: named });
  const { objects, more } = dependentsOf(world, resource, key, { children: DRAWN });
  const root = { ...treeObject(world, resource, key), children: objects.filter(({ blocks }) => blocks), more };
  const { steps, loose, retainedAddresses, namespaces, pools, rows } = cascade;
  const pods = steps.filter((step) => step.resource === 'pods');
  const fate = {
    keep: 'stays and creates new pods, which wait: the Subnet accepts none',
    scale: 'is scaled to 0',
    delete: 'is deleted',
  } as const;
  const lines = [
    '',
    `deletes: ${counted(steps.length)}, dependents first`,
    ...(pods.length === 0 ? [] : [`workloads: ${pods.length} ${pods.length === 1 ? 'pod is deleted' : 'pods are deleted'}`]),
    ...workloads.map(({ text, pods: count }) => `  ${text} (${count}) ${owners === undefined ? 'would create them again' : fate[owners]}`),
    ...(loose.length === 0 ? [] : [`  not created again by a controller: ${listed(loose)}`]),
    ...(northboundRead ? [`Northbound rows deleted with them: ${rows}`] : []),
    ...foreignLines(world, steps),
    ...(namespaces.length === 0
      ? []
      : [
          `stays: ${namespaces.length === 1 ? 'Namespace' : 'Namespaces'} ${listed(namespaces)}; ${namespaces.length === 1 ? 'its' : 'their'} next pods get another Subnet that lists the namespace, else ${world.settings.defaultSubnet}`,
        ]),
    ...(pools.length === 0
      ? []
      : [
          `stays: ${pools.length === 1 ? 'IPPool' : 'IPPools'} ${listed(pools)}, then without a Subnet; to delete it: ${commandText`kubectl delete ippool ${pools.map(nameArgument)}`}`,
        ]),
    ...(retainedAddresses.length === 0 ? [] : [`retained addresses that are freed: ${listed(retainedAddresses)}`]),
  ];
  return [...treeLines(objectLine(root, Date.now(), `${explainText({ resource, ...named })} --all`), paint), ...lines];
}

/** Said before the question: what is deleted above a foreign row stays half deleted until its program has removed it. */
function foreignLines(world: World, steps: readonly TreeObject[]): readonly string[] {
  const held = steps.flatMap((step) => {
    const hold = foreignHold(world, step);
    return hold === undefined ? [] : [{ name: `${step.kind} ${keyOf({ metadata: step })}`, hold }];
  });
  const shown = held.slice(0, DRAWN);
  return [
    ...shown.map(
      ({ name, hold }) =>
        `waits for another program: ${hold.text} is never deleted, and ${name} is gone only after it; to look at it: ${hold.next}`,
    ),
    ...(held.length > shown.length
      ? [`  and ${held.length - shown.length} more objects have foreign rows in theirs: kiln neighbours`]
      : []),
  ];
}

/** Checks leaves only: the deletion of an object in use is denied until its dependents are deleted. */
async function checkOnServer({ steps }: Cascade, io: CommandIo): Promise<number> {
  const held = new Set(steps.flatMap((step) => (step.resource === 'pods' ? [] : [step.resource])));
  const leaves = steps.some(({ resource }) => resource === 'pods')
    ? steps.filter(({ resource }) => resource === 'pods')
    : steps.slice(0, 1);
  for (const { resource, namespace, name, uid } of leaves)
    await io.client.delete(traitsOf(resource), namespace === '' ? { name } : { name, namespace }, { uid, dryRun: true });
  io.say(`the API server accepts the deletion of ${counted(leaves.length)}; ${[...held].join(', ')} follow when those are gone`);
  return EXIT.fine;
}

function resultText({ output }: DeleteFlags, { steps, namespaces, pools }: Cascade, gone: readonly string[]): Output {
  if (output === 'name') return gone;
  if (output === 'table') return [];
  const left = steps.map(stepText).filter((text) => !gone.includes(text));
  return structuredText(output, 'Deletion', {
    deleted: gone,
    left,
    stays: [...namespaces.map((name) => `namespace/${name}`), ...pools.map((name) => `${typeText('ippools')}/${name}`)],
  });
}

function cannotDelete(named: NamedObject, why: readonly string[]): CommandFailure {
  return new CommandFailure(
    EXIT.findings,
    `${typeText(named.resource)}/${named.name} is not deleted`,
    why.slice(0, 3).join('; '),
    explainText(named),
  );
}

function explainText({ resource, namespace, name }: NamedObject): string {
  return commandText`kiln explain ${typedName(resource)} ${name} ${inNamespace(namespace)}`;
}

function deleteCommand({ resource, namespace, name }: NamedObject): string {
  return commandText`kiln delete ${typedName(resource)} ${name} ${inNamespace(namespace)}`;
}

function counted(count: number): string {
  return count === 1 ? 'one object' : `${count} objects`;
}

function listed(texts: readonly string[]): string {
  return `${texts.slice(0, 10).join(', ')}${texts.length > 10 ? ` and ${texts.length - 10} more` : ''}`;
}
