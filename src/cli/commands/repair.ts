/**
 * `kiln repair`: mends findings of `kiln audit`. It shows each row and object with what it has before and after, asks, does it, and proves it by a
 * second audit. The controller that leads does it where it is Kiln's; without one the command takes the Lease and does it alone.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { KUBE_OVN_LEASE } from '../../api/well-known.ts';
import type { FreshController } from '../../controller/fresh-controller.ts';
import { ForeignLeaseWatch } from '../../kube/leader/foreign-lease-watch.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import { previewOf } from '../../preview/preview-of.ts';
import { SILENT } from '../../runtime/log.ts';
import { commandText } from '../../text/command-text.ts';
import type { AuditFinding } from '../audit/audit-findings.ts';
import { auditReport } from '../audit/audit-report.ts';
import type { AuditReport } from '../audit/audit-text.ts';
import { correspondence, refuseOtherCluster } from '../cluster/belongs-together.ts';
import { defaultJournal, JOURNAL_DEFAULT_TEXT } from '../arguments/journal-directory.ts';
import { addSettingsFlags, leaderOf } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import { addNorthboundFlags } from '../cluster/observe.ts';
import { refuseUnreadable } from '../cluster/readable-kinds.ts';
import { SoleLeader } from '../cluster/sole-leader.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, duration, onCluster, requestTimeoutMs } from '../connection/cluster-command.ts';
import type { ExitCode } from '../errors/command-failure.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { openJournal } from '../process/journal.ts';
import type { RepairPlan } from '../repair/repair-plan.ts';
import { repairPlan } from '../repair/repair-plan.ts';
import type { RepairOutcome } from '../repair/repair-run.ts';
import { carryOut } from '../repair/repair-run.ts';
import type { NorthboundWay } from '../connection/northbound-ways.ts';
import { openedFresh } from './diff.ts';

export interface RepairFlags extends ObservationFlags {
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly dryRun: 'none' | 'client';
  readonly output: 'table' | 'wide' | StructuredFormat;
  readonly timeout: string;
  readonly journal?: string;
}

const EXAMPLES = `
Examples:
  kiln audit                                    what is found, each with its id
  kiln repair 3f2a91c0 --dry-run=client         what would be done about this finding
  kiln repair 3f2a91c0 b81d0c55                 print it, ask, do it, audit again
  kiln repair --all --yes                       everything that can be repaired; rows that go can be restored by kiln undo
`;

const EXIT_CODES = `
Exit codes: 0 repaired, and the second audit proves it; 1 findings remain, or nothing was done: another controller leads, the plan changed; 2 wrong
usage; 3 cluster or database unreachable, or forbidden; 4 timed out; 130 interrupted: what was done is printed.
`;

export function addRepair(program: Command): void {
  const command = program
    .command('repair')
    .argument('[finding...]', 'ids of findings, as kiln audit prints them')
    .description('repair findings of kiln audit: show what is done, ask, do it in a safe order, prove it by a second audit')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--all', 'all findings that can be repaired')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(new Option('--dry-run <mode>', 'client: print the plan, and change nothing').choices(['none', 'client']).default('none'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'wide', ...STRUCTURED_FORMATS]).default('table'))
    .addOption(
      new Option(
        '--journal <directory>',
        `without a controller: write rows here before they change or go, for kiln undo; or off (default: ${JOURNAL_DEFAULT_TEXT})`,
      ).env('KILN_JOURNAL'),
    )
    .option('--timeout <duration>', 'how long to wait for the controller, if one leads', duration, '60s');
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (findings: readonly string[], flags: RepairFlags) => {
    process.exitCode = await onCluster('repair', flags, (io) => runRepair(findings, flags, io));
  });
}

/** @returns the exit code */
export async function runRepair(ids: readonly string[], flags: RepairFlags, io: CommandIo): Promise<number> {
  if ((ids.length === 0) === (flags.all !== true))
    throw new CommandFailure(
      EXIT.usage,
      'kiln repair needs to know what',
      'it takes ids of findings, or --all; kiln audit prints the ids',
      'kiln audit',
    );
  io.lastWords(() => 'interrupted: nothing was changed');
  const { gitVersion } = await io.client.version();
  await refuseUnreadable(io);
  // To print a plan, reading is enough.
  const isDry = flags.dryRun !== 'none';
  const way = await wayToNorthbound('repair', flags, io, isDry ? 'reads' : 'writes');
  io.say(`reading Kubernetes, and OVN by ${way.text}`);
  let session: OvsdbSession | undefined;
  const options = { ...way.options, readOnly: isDry };
  await using fresh = await openedFresh('repair', flags, way.ovnNb, io, (opened) => (session = opened), options);
  if (session === undefined) throw new Error('the Northbound database was not opened');
  refuseOtherCluster(fresh.world, way.text);
  refuseEmpty(fresh);
  const before = auditReport(fresh, gitVersion, way.text);
  const chosen = chosenFindings(before, ids);
  const repaired = chosen.filter(({ repairs }) => repairs.length > 0);
  const others = chosen.filter(({ repairs }) => repairs.length === 0);
  if (chosen.length === 0) {
    io.say('nothing is found, so nothing is to be repaired');
    return EXIT.fine;
  }
  const plan = planOf(fresh, session, repaired);
  const leader = await leaderOf(io, flags.leaseNamespace);
  const led = leader?.live === true ? leader.identity : undefined;
  print(plan, others, flags, io);
  if (plan.steps.length === 0)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was changed',
      `${counted(others.length, 'finding')} cannot be repaired by kiln repair`,
      others[0]?.next ?? 'kiln audit -o wide',
    );
  if (led !== undefined) io.say(`the controller ${led} leads: it makes these changes itself, and kiln repair waits for it`);
  else if (flags.journal === 'off' && plan.steps.some(({ rows }) => rows.length > 0))
    io.say('hint: with --journal=off, rows that change or go cannot be restored by kiln undo');
  if (isDry) return EXIT.fine;
  if (led === undefined) await refuseKubeOvn(flags, io);
  await consent(flags, io, plan);
  const outcome = led === undefined ? await alone(plan, fresh, session, flags, io) : await throughController(plan, fresh, led, flags, io);
  return await proven(outcome, { before, chosen: repaired, others, way }, gitVersion, flags, io);
}

/** @throws CommandFailure if an id is unknown */
function chosenFindings({ groups }: AuditReport, ids: readonly string[]): readonly AuditFinding[] {
  const all = groups.flatMap(({ findings }) => findings);
  if (ids.length === 0) return all;
  const unknown = ids.find((id) => !all.some((one) => one.id === id));
  if (unknown !== undefined)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was changed',
      `there is no finding ${unknown} (any more)`,
      'kiln audit lists the findings that there are now',
    );
  return all.filter(({ id }) => ids.includes(id));
}

/** A database that was lost, or is new, has to be restored or written as a whole. */
function refuseEmpty({ world }: FreshController): void {
  if (correspondence(world).kind !== 'empty') return;
  throw new CommandFailure(
    EXIT.findings,
    'nothing was changed',
    'the Northbound database has no row of Kiln or Kube-OVN: whether it is the one of this cluster cannot be told',
    'kiln restore, or start the controller, which makes all rows anew',
  );
}

function planOf({ world }: FreshController, session: OvsdbSession, findings: readonly AuditFinding[]): RepairPlan {
  const { schema, replica } = session;
  if (schema === undefined) throw new Error('the Northbound database has sent no schema');
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return repairPlan(
    previewOf(world, replica, schema, now),
    findings.flatMap(({ repairs }) => repairs),
  );
}

/** Before the user is asked. The Lease is watched until the end. */
async function refuseKubeOvn({ leaseNamespace: namespace }: RepairFlags, { client }: CommandIo): Promise<void> {
  const watch = new ForeignLeaseWatch({ client, namespace, name: KUBE_OVN_LEASE }).start();
  try {
    await watch.untilSynced();
    if (watch.state.kind !== 'held') return;
    // A Lease that is not renewed any more counts as held until it has run out.
    await new Promise((done) => setTimeout(done, RENEWED_MS));
    if (watch.state.kind === 'held') throw kubeOvnLeads(namespace, watch.state.holder);
  } finally {
    await watch.close();
  }
}

/** Longer than the time between two renewals. */
const RENEWED_MS = 3_000;

function kubeOvnLeads(namespace: string, holder: string): CommandFailure {
  return new CommandFailure(
    EXIT.findings,
    'nothing was changed',
    `Kube-OVN's controller leads (${holder} holds Lease ${namespace}/${KUBE_OVN_LEASE}): it would write the same rows and objects`,
    commandText`kubectl -n ${namespace} scale deployment kube-ovn-controller --replicas=0`,
  );
}

async function consent({ yes }: RepairFlags, io: CommandIo, { steps }: RepairPlan): Promise<void> {
  if (yes === true) return;
  if (io.ask === undefined)
    throw new CommandFailure(EXIT.usage, 'nothing was changed', 'there is no terminal for the confirmation', 'kiln repair … --yes');
  const writes = steps.reduce((sum, { lines }) => sum + lines.length, 0);
  if (!(await io.ask(`Make ${counted(writes, 'change')} in ${counted(steps.length, 'step')}?`)))
    throw new CommandFailure(EXIT.findings, 'nothing was changed', 'the answer was no', 'kiln repair … --dry-run=client');
}

async function alone(
  plan: RepairPlan,
  fresh: FreshController,
  session: OvsdbSession,
  flags: RepairFlags,
  io: CommandIo,
): Promise<RepairOutcome> {
  const { client, say } = io;
  const namespace = flags.leaseNamespace;
  let isInterrupted = false;
  io.onInterrupt(() => {
    isInterrupted = true;
    say('Ctrl-C: the write under way is finished, nothing more is begun');
  });
  const journal = await openJournal(flags, SILENT);
  if (journal.failure !== undefined) {
    await journal.close();
    throw new CommandFailure(
      EXIT.findings,
      'nothing was changed',
      `what changes is written into the journal first, and --journal=${flags.journal ?? defaultJournal()} cannot be written: ${journal.failure}`,
      'kiln repair --journal DIRECTORY',
    );
  }
  const kubeOvn = new ForeignLeaseWatch({ client, namespace, name: KUBE_OVN_LEASE }).start();
  try {
    await using held = await SoleLeader.gain('repair', namespace, io);
    await kubeOvn.untilSynced();
    const obstacle = (): string | undefined => {
      if (!held.leads) return 'another controller leads now';
      return kubeOvn.state.kind === 'free' ? undefined : "Kube-OVN's controller leads now";
    };
    return await carryOut(plan, {
      ...{ fresh, session, client, journal, say, obstacle },
      gains: held.gains,
      interrupted: () => isInterrupted,
      timeoutMs: requestTimeoutMs(flags),
    });
  } finally {
    await kubeOvn.close();
    await journal.close();
  }
}

const LOOK_MS = 200;

async function throughController(
  plan: RepairPlan,
  fresh: FreshController,
  leader: string,
  flags: RepairFlags,
  io: CommandIo,
): Promise<RepairOutcome> {
  const lines = plan.steps.flatMap((step) => step.lines);
  const part = { row: plan.rows.has.bind(plan.rows), object: plan.objects.has.bind(plan.objects) };
  let isInterrupted = false;
  io.onInterrupt(() => {
    isInterrupted = true;
  });
  const until = performance.now() + (parseDuration(flags.timeout) ?? 0);
  for (;;) {
    const { rows, objects } = fresh.plan(part);
    if (rows.length + objects.length === 0) return { done: lines, notDone: [], stopped: undefined };
    if (isInterrupted) return { done: [], notDone: lines, stopped: 'Ctrl-C' };
    if (performance.now() > until)
      return {
        done: [],
        notDone: lines,
        stopped: `${leader} has not made ${counted(rows.length + objects.length, 'of these changes', 'of these changes')} in ${flags.timeout}: kiln gc plan and its log say what it waits for`,
      };
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

interface Judged {
  readonly before: AuditReport;
  readonly chosen: readonly AuditFinding[];
  /** Not repaired by this command. */
  readonly others: readonly AuditFinding[];
  readonly way: NorthboundWay;
}

/** The second audit reads everything anew. */
async function proven(
  outcome: RepairOutcome,
  { before, chosen, others, way }: Judged,
  version: string,
  flags: RepairFlags,
  io: CommandIo,
): Promise<ExitCode> {
  const { done, notDone, stopped } = outcome;
  if (stopped === 'Ctrl-C') {
    io.out(progressLines(outcome));
    io.say(`interrupted: ${done.length} done, ${notDone.length} not done; kiln repair goes on with what is left`);
    return EXIT.interrupted;
  }
  io.say('auditing again');
  await using again = await openedFresh('repair', flags, way.ovnNb, io, undefined, { ...way.options, readOnly: true });
  const after = auditReport(again, version, way.text).groups.flatMap(({ findings }) => findings);
  const idsBefore = new Set(before.groups.flatMap(({ findings }) => findings.map(({ id }) => id)));
  const remaining = after.filter(({ id }) => chosen.some((one) => one.id === id) || others.some((one) => one.id === id));
  const fresh = after.filter(({ id }) => !idsBefore.has(id));
  const repaired = chosen.filter(({ id }) => !after.some((one) => one.id === id));
  if (flags.output === 'json' || flags.output === 'yaml')
    io.out(
      structuredText(flags.output, 'RepairResult', {
        done,
        notDone,
        stopped: stopped ?? null,
        repaired: repaired.map(({ id }) => id),
        remaining: remaining.map(findingJson),
        found: fresh.map(findingJson),
      }),
    );
  else if (notDone.length > 0) io.out(progressLines(outcome));
  if (stopped !== undefined) io.say(`stopped: ${stopped}`);
  for (const { id, subject, message } of [...remaining, ...fresh].slice(0, SHOWN)) io.say(`remains  ${id}  ${subject}: ${message}`);
  io.say(`repaired ${repaired.length} of ${counted(chosen.length + others.length, 'finding')}, proven by a second audit`);
  return stopped === undefined && remaining.length === 0 && fresh.length === 0 ? EXIT.fine : EXIT.findings;
}

function findingJson({ repairs, ...finding }: AuditFinding): object {
  return { ...finding, repairable: repairs.length > 0 };
}

function stepsJson(steps: RepairPlan['steps']): object {
  return steps.map(({ kind, lines }) => ({ kind, changes: lines }));
}

function progressLines({ done, notDone }: RepairOutcome): readonly string[] {
  return [...done.map((line) => `done      ${line}`), ...notDone.map((line) => `not done  ${line}`)];
}

const SHOWN = 40;

function print({ steps }: RepairPlan, others: readonly AuditFinding[], { output, dryRun }: RepairFlags, io: CommandIo): void {
  // With a run, the result is the one document.
  if (output === 'json' || output === 'yaml') {
    if (dryRun !== 'none') io.out(structuredText(output, 'Repair', { steps: stepsJson(steps), notRepaired: others.map(findingJson) }));
    return;
  }
  const most = output === 'wide' ? Number.POSITIVE_INFINITY : SHOWN;
  const limited = (all: readonly string[]): readonly string[] =>
    all.length > most ? [...all.slice(0, most), `  … and ${all.length - most} more: -o wide`] : all;
  io.out([
    ...steps.flatMap(({ kind, lines }, at) => [`step ${at + 1}: ${kind}`, ...limited(lines.map((line) => `  ${line}`))]),
    ...(others.length === 0
      ? []
      : [
          'not repaired by kiln repair',
          ...limited(others.map(({ id, subject, message, next }) => `  ${id}  ${subject}: ${message}; ${next}`)),
        ]),
  ]);
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
