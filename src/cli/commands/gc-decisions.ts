/**
 * `kiln gc status`, `pause`, `resume`, `approve`: what a person decides about the collection. A decision is an annotation of the default
 * Vpc, so it survives restarts of the controller, and whoever leads observes it.
 */
import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { Option } from 'commander';
import { kilnAnnotation } from '../../api/well-known.ts';
import { parseDuration } from '../../api/values/duration.ts';
import { CollectionPolicy, pauseText } from '../../diff/collection-policy.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { commandText } from '../../text/command-text.ts';
import { clusterObject } from '../../world/built-in.ts';
import { conditionsOf } from '../../world/conditions.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Settings } from '../../world/settings.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import { World } from '../../world/world.ts';
import type { SettingsFlags } from '../cluster/leader.ts';
import { addSettingsFlags, leaderOf, settingsFor } from '../cluster/leader.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { addConnectionFlags, duration, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';

interface GcFlags extends ConnectionFlags, SettingsFlags {}

interface ApproveFlags extends GcFlags {
  readonly yes?: boolean;
  readonly for: string;
}

interface PauseFlags extends GcFlags {
  readonly reason?: string;
}

interface StatusFlags extends GcFlags {
  readonly output: 'table' | StructuredFormat;
}

export function addGcDecisions(gc: Command): void {
  const status = gc
    .command('status')
    .description('print whether rows are collected, the author of a pause, what waits for an approval, and the limits; reads only')
    .addHelpText(
      'after',
      '\nExit codes: 0 rows are collected, 1 they are not: a pause, a hold, or no leader, 2 wrong usage, 3 unreachable.\n',
    )
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', ...STRUCTURED_FORMATS]).default('table'));
  action(status, 'gc status', runGcStatus);
  const pause = gc
    .command('pause')
    .description(
      'collect nothing until kiln gc resume, also after a restart; what an object loses by its own change or deletion still goes',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  kiln gc pause --reason "restoring the API server"\n  kubectl annotate vpc ovn-cluster kiln.io/gc-pause=maintenance     the same\n',
    )
    .option('--reason <text>', 'a sentence for others, printed by kiln gc status');
  action(pause, 'gc pause', runGcPause);
  action(gc.command('resume').description('end a pause of the collection'), 'gc resume', runGcResume);
  const approve = gc
    .command('approve')
    .description('let the controller collect the rows that wait for an approval, since they are more than a limit')
    .addHelpText('after', '\nRead kiln gc plan before: an API server that lost its data looks like one whose objects were deleted.\n')
    .option('--for <duration>', 'how long the approval is in effect', duration, '1h')
    .option('-y, --yes', 'do not ask for confirmation');
  action(approve, 'gc approve', runGcApprove);
}

type AnyFlags = ApproveFlags & PauseFlags & StatusFlags;

/** @param run reads those of the flags that the command has */
function action(command: Command, name: string, run: (flags: AnyFlags, io: CommandIo) => Promise<number>): void {
  addSettingsFlags(addConnectionFlags(command)).action(async (flags: AnyFlags) => {
    process.exitCode = await onCluster(name, flags, (io) => run(flags, io));
  });
}

/** The default Vpc, with what its annotations and conditions say. */
interface Cluster {
  readonly settings: Settings;
  readonly name: string;
  readonly policy: CollectionPolicy;
  /** Of the hold: undefined if nothing waits. */
  readonly held: { readonly message: string; readonly since: string } | undefined;
}

async function clusterOf(command: string, flags: GcFlags, io: CommandIo): Promise<Cluster> {
  const settings = await settingsFor(flags, io);
  const { resource, key: name } = clusterObject(settings);
  const found = await io.client.find<KubeObject>(traitsOf(resource), { name });
  if (found === undefined)
    throw new CommandFailure(
      EXIT.findings,
      `kiln ${command} did nothing`,
      `there is no ${traitsOf(resource).kind} ${name}, the default one, on which decisions about the collection are kept`,
      commandText`kubectl get ${traitsOf(resource).plural}`,
    );
  const world = new World(settings);
  const object = found as unknown as AnyObservedObject;
  world.tables[resource]?.set(name, object);
  const condition = conditionsOf(resource, object).find(({ type, status }) => type === 'CollectionHeld' && status === 'True');
  const held = condition === undefined ? undefined : { message: condition.message ?? '', since: condition.lastTransitionTime ?? '' };
  return { settings, name, policy: new CollectionPolicy(world, true), held };
}

/** @returns the exit code */
async function runGcStatus(flags: StatusFlags, io: CommandIo): Promise<number> {
  const { settings, policy, held } = await clusterOf('gc status', flags, io);
  const leader = await leaderOf(io, flags.leaseNamespace).catch((error: unknown) => {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
    throw error;
  });
  const { pause, approval } = policy;
  const collects = leader?.live === true && pause === undefined && held === undefined && settings.gc === 'on';
  if (flags.output !== 'table') {
    const { gc: mode, gcRules: rules, gcMaxRows: maxRows, gcMaxShare: maxShare, gcShareFrom: shareFrom, gcKubeOvnGrace } = settings;
    const state = { collects, leader: leader?.live === true ? leader.identity : null, pause: pause ?? null, held: held ?? null };
    const limits = { maxRows, maxSharePercent: maxShare, shareFrom };
    io.out(
      structuredText(flags.output, 'CollectionStatus', {
        ...{ ...state, approval: approval ?? null, mode, rules, limits, kubeOvnGraceSeconds: gcKubeOvnGrace },
      }),
    );
    return collects ? EXIT.fine : EXIT.findings;
  }
  const { gcRules, gcMaxRows, gcMaxShare, gcShareFrom, gcKubeOvnGrace } = settings;
  const now = Date.now();
  io.out([
    `collection  ${collects ? '✔ rows that nothing explains are collected' : '✖ nothing is collected'}`,
    ...(leader?.live === true ? [] : ['            ✖ no controller leads: kiln gc run collects without one']),
    ...(settings.gc === 'on' ? [] : [`            ✖ --gc=${settings.gc}`]),
    ...(pause === undefined ? [] : [`pause       ✖ ${pauseText(pause)}: kiln gc resume`]),
    ...(held === undefined ? [] : [`hold        ✖ ${held.message}${held.since === '' ? '' : ` (since ${held.since})`}`]),
    ...(approval === undefined
      ? []
      : [
          `approval    ${approval.rows} rows${approval.digest === undefined ? '' : ` (digest ${approval.digest})`} until ${approval.until}${approval.by === '' ? '' : ` by ${approval.by}`}${Date.parse(approval.until) > now ? '' : ', which is over'}`,
        ]),
    `limits      ${gcMaxRows} rows; from ${gcShareFrom} rows on, ${gcMaxShare} % of all rows of Kiln and IP objects`,
    `grace       ${gcKubeOvnGrace} s for adopted leftovers of Kube-OVN`,
    `rules       ${gcRules.length === 0 ? 'none' : gcRules.map((rule) => JSON.stringify(rule)).join(' ')}`,
  ]);
  return collects ? EXIT.fine : EXIT.findings;
}

/** @returns the exit code */
async function runGcPause(flags: PauseFlags, io: CommandIo): Promise<number> {
  const { settings, policy } = await clusterOf('gc pause', flags, io);
  if (policy.pause !== undefined) {
    io.say(`nothing to do: ${pauseText(policy.pause)}`);
    return EXIT.fine;
  }
  const text = JSON.stringify({ by: me(), since: new Date().toISOString(), ...(flags.reason !== undefined && { reason: flags.reason }) });
  await annotate(io, settings, kilnAnnotation.gcPause, text);
  io.say('collection is paused: rows that nothing explains stay, and are marked with the time; kiln gc resume ends it');
  return EXIT.fine;
}

/** @returns the exit code */
async function runGcResume(flags: GcFlags, io: CommandIo): Promise<number> {
  const { settings, policy, held } = await clusterOf('gc resume', flags, io);
  if (policy.pause === undefined) io.say('nothing to do: collection is not paused');
  else {
    await annotate(io, settings, kilnAnnotation.gcPause, null);
    io.say('collection goes on');
  }
  if (held === undefined) return EXIT.fine;
  io.say(`a hold remains: ${held.message}`);
  return EXIT.findings;
}

/** @returns the exit code */
async function runGcApprove(flags: ApproveFlags, io: CommandIo): Promise<number> {
  const { settings, name, held, policy } = await clusterOf('gc approve', flags, io);
  if (held === undefined) {
    io.say('nothing to approve: no rows wait; kiln gc status prints the limits');
    return EXIT.findings;
  }
  const [, number, digest] = /: (\d+) have none in the API server \(digest ([0-9a-f]{16})\)/.exec(held.message) ?? [];
  if (number === undefined || digest === undefined)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was approved',
      `the hold on ${name} has no number and digest of its rows: ${held.message}`,
      'kiln gc status',
    );
  const rows = Number(number);
  io.out([held.message]);
  if (flags.yes !== true) {
    if (io.ask === undefined)
      throw new CommandFailure(EXIT.usage, 'nothing was approved', 'there is no terminal for the confirmation', 'kiln gc approve --yes');
    if (!(await io.ask(`Let the controller delete these ${rows} rows?`)))
      throw new CommandFailure(EXIT.findings, 'nothing was approved', 'the answer was no', 'kiln gc plan');
  }
  await approve(io, settings, { rows, digest, forMs: parseDuration(flags.for) ?? 0 });
  io.say(`approved: these ${rows} rows (digest ${digest}), for ${flags.for}; rows that come later need an approval of their own`);
  if (policy.pause !== undefined) io.say(`${pauseText(policy.pause)}: kiln gc resume`);
  return EXIT.fine;
}

/** Writes an approval. @param now rows in their grace go as well */
export async function approve(
  io: Pick<CommandIo, 'client'>,
  settings: Settings,
  { rows, digest, forMs, now = false }: { readonly rows: number; readonly digest?: string; readonly forMs: number; readonly now?: boolean },
): Promise<void> {
  const until = new Date(Date.now() + forMs).toISOString();
  await annotate(
    io,
    settings,
    kilnAnnotation.gcApproval,
    JSON.stringify({ rows, ...(digest !== undefined && { digest }), until, by: me(), ...(now && { now }) }),
  );
}

/** Takes an approval back. */
export async function withdraw(io: Pick<CommandIo, 'client'>, settings: Settings): Promise<void> {
  await annotate(io, settings, kilnAnnotation.gcApproval, null);
}

async function annotate({ client }: Pick<CommandIo, 'client'>, settings: Settings, key: string, value: string | null): Promise<void> {
  const { resource, key: name } = clusterObject(settings);
  await client.mergePatch(traitsOf(resource), { name }, { metadata: { annotations: { [key]: value } } });
}

function me(): string {
  return `${userInfo().username}@${hostname()}`;
}
