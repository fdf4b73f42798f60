/** `kiln diff`: the writes of a controller that would start now. The command only reads, and takes no Lease. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { FreshController, isRefusal, NotDerived } from '../../controller/fresh-controller.ts';
import { READ_QUICKLY_MS } from '../../controller/reading/observation.ts';
import { leftoverVips, leftoverVipsLines } from '../../explain/leftover-vips.ts';
import { leftoverGroups, leftoverLines } from '../../explain/leftovers.ts';
import { planGroupLines } from '../../explain/plan-groups.ts';
import { planJson, planLines } from '../../explain/plan-text.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, BRIEFLY, onCluster, requestTimeoutMs } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { KUBE_ADVICE } from '../errors/error-advice.ts';
import { addSettingsFlags, settingsFor } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags, sessionOf } from '../cluster/observe.ts';
import { refuseOtherCluster } from '../cluster/belongs-together.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import type { NorthboundWay } from '../connection/northbound-ways.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import type { OvsdbOptions, OvsdbSession } from '../../ovsdb/index.ts';
import { identityOf, tableOf } from '../../nb/row-id.ts';
import { commandText } from '../../text/command-text.ts';

export interface DiffFlags extends ObservationFlags {
  readonly output: 'table' | StructuredFormat;
  readonly details?: boolean;
}

const EXAMPLES = `
Examples:
  kiln diff                                     changes by kind, with their number; it finds OVN by itself
  kiln diff --details                           one line for each row and object that would change
  kiln diff -o json | jq .rows                  for programs
`;

const EXIT_CODES = `
Exit codes: 0 no differences, 1 differences, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 4 timed out.
`;

export function addDiff(program: Command): void {
  const command = program
    .command('diff')
    .description('print what the controller would write now, in OVN and in Kubernetes; reads only')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', ...STRUCTURED_FORMATS]).default('table'))
    .option('--details', 'one line for each change, instead of one for each kind of change');
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: DiffFlags) => {
    process.exitCode = await onCluster('diff', flags, (io) => runDiff(flags, io), BRIEFLY);
  });
}

/** @returns the exit code */
export async function runDiff(flags: DiffFlags, io: CommandIo): Promise<number> {
  await using fresh = await readFresh('diff', flags, io);
  const plan = fresh.plan();
  const conflicts = fresh.conflicts();
  const left = leftoverGroups(fresh.world, fresh.desired.rows);
  const vips = leftoverVips(fresh.world, fresh.desired.rows);
  const count = plan.rows.length + plan.objects.length;
  const lines = [
    ...conflictLines(conflicts),
    ...(count === 0 ? [] : flags.details === true ? planLines(plan) : planGroupLines(plan)),
    ...leftoverLines(left, 'shown'),
    ...leftoverVipsLines(vips),
  ];
  if (flags.output !== 'table')
    io.out(
      structuredText(flags.output, 'Plan', {
        ...planJson(plan),
        conflicts: conflicts.map(({ id, verdict }) => ({
          table: tableOf(id),
          name: identityOf(id),
          message: verdict.kind === 'conflict' ? verdict.message : '',
        })),
        leftovers: left,
        leftoverVips: vips,
      }),
    );
  else if (lines.length > 0) io.out(lines);
  if (count === 0) io.say('nothing to do');
  else if (flags.output === 'table' && flags.details !== true) io.say('hint: kiln diff --details prints each change');
  return count === 0 ? EXIT.fine : EXIT.findings;
}

const MOST_CONFLICTS = 10;

function conflictLines(conflicts: ReturnType<FreshController['conflicts']>): readonly string[] {
  const lines = conflicts.flatMap(({ verdict }) => (verdict.kind === 'conflict' ? [`conflict: ${verdict.message}`] : []));
  const more = lines.length - MOST_CONFLICTS;
  return more > 0 ? [...lines.slice(0, MOST_CONFLICTS), `${more} more conflicts; kiln diff -o json lists them`] : lines;
}

/**
 * For a command that only reads: finds the database, and reads all.
 * @param command as the user calls it: `gc plan`
 * @throws CommandFailure without a way to the database, if it is another cluster's, or if not all could be read
 */
export async function readFresh(command: string, flags: ObservationFlags, io: CommandIo): Promise<FreshController> {
  // Reports an API server that is not reachable or denies access at once, instead of after the time limit.
  await io.client.version();
  const way = await wayToNorthbound(command, flags, io, 'reads');
  if (way.isFound) io.say(`reading Kubernetes, and OVN by ${way.text}`);
  const fresh = await openedFresh(command, flags, way.ovnNb, io, undefined, { ...way.options, readOnly: true });
  refuseFoundOther(way, fresh);
  return fresh;
}

/** A database that the user named is taken as it is. */
export function refuseFoundOther({ isFound, text }: NorthboundWay, { world }: FreshController): void {
  if (isFound) refuseOtherCluster(world, text);
}

/** A controller that reads all and writes nothing, once its rules have run. @throws CommandFailure if something could not be read */
export async function openedFresh(
  command: string,
  flags: ObservationFlags,
  ovnNb: string,
  io: CommandIo,
  opened: (session: OvsdbSession) => void = () => undefined,
  more: Partial<OvsdbOptions> = {},
): Promise<FreshController> {
  const { client } = io;
  const timeoutMs = requestTimeoutMs(flags);
  const settings = await settingsFor(flags, io);
  const session = sessionOf(flags, ovnNb, more);
  opened(session);
  let problem = '';
  session.onError(({ code, message }) => {
    problem = ` (${code}: ${message})`;
  });
  try {
    // A command that writes follows what it wrote.
    const watching = more.readOnly === true ? { watchAfterMs: READ_QUICKLY_MS } : {};
    return await FreshController.open({ client, session, settings, timeoutMs, ...watching });
  } catch (error) {
    if (!(error instanceof NotDerived)) throw error;
    throw notComplete(error, timeoutMs, ovnNb, problem, command);
  }
}

/**
 * Why the plan is incomplete. A list that the API server rejected has a reason; a list that did not arrive, and rules that did not finish,
 * had too little time.
 * @param problem of the Northbound database, in brackets; empty if there was none
 */
export function notComplete(
  { waitingFor, listError }: NotDerived,
  timeoutMs: number,
  ovnNb: string,
  problem: string,
  command = 'diff',
): CommandFailure {
  const what = `kiln ${command} could not read everything`;
  if (listError !== undefined && isRefusal(listError))
    return new CommandFailure(EXIT.unreachable, what, `${listError.code}: ${listError.message}`, KUBE_ADVICE[listError.code]);
  const why = `not complete after ${timeoutMs / 1_000} s: ${waitingFor.join(', ') || 'the rules'}`;
  if (waitingFor.includes('the Northbound database'))
    return new CommandFailure(EXIT.unreachable, what, `${why}${problem}`, commandText`ovn-nbctl --db=${ovnNb} show`);
  if (listError !== undefined)
    return new CommandFailure(EXIT.unreachable, what, `${why} (${listError.code}: ${listError.message})`, KUBE_ADVICE[listError.code]);
  return new CommandFailure(
    EXIT.timeout,
    what,
    why,
    commandText`kiln ${command.split(' ')} --request-timeout ${4 * Math.ceil(timeoutMs / 1_000)}s`,
  );
}
