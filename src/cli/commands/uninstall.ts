/**
 * `kiln uninstall`: removes Kiln from a cluster, with or without a running deployment: rows in OVN, custom resources with their finalizers,
 * their CRDs, and Kiln's own objects. It shows all of it and asks. Foreign rows and objects stay. It can be run again at any point.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { RowRemoval } from '../../controller/row-removal.ts';
import { DEFINITIONS } from '../../kube/cache/definition-watch.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject, ObjectName, Resource } from '../../kube/resource.ts';
import { LEASES } from '../../kube/resource.ts';
import { CONFIGURATION_NAME, SECRET_NAME, WEBHOOK_CONFIGURATIONS } from '../../webhook/manifests/webhook-configuration.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { addConnectionFlags, duration, onCluster, requestTimeoutMs } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { OvnFlags } from '../connection/connect.ts';
import type { ListedKind } from '../deletion/custom-resource-deletion.ts';
import { CUSTOM_RESOURCES, drain, foreignFinalizers, listedKinds } from '../deletion/custom-resource-deletion.ts';
import { neighbourhood } from '../../explain/neighbours.ts';
import type { SettingsFlags } from '../cluster/leader.ts';
import { addSettingsFlags, settingsFor } from '../cluster/leader.ts';
import { northboundOf } from '../connection/connect.ts';
import { addNorthboundFlags, sessionOf } from '../cluster/observe.ts';
import { TERM_KEY } from '../../nb/ownership.ts';
import { SILENT } from '../../runtime/log.ts';
import { NO_JOURNAL } from '../../journal/journal.ts';
import { defaultJournal, JOURNAL_DEFAULT_TEXT } from '../arguments/journal-directory.ts';
import { openJournal } from '../process/journal.ts';
import { SoleLeader } from '../cluster/sole-leader.ts';
import { identityOf } from '../../nb/row-id.ts';
import { TABLES } from '../../nb/tables.ts';
import { commandText } from '../../text/command-text.ts';

export interface UninstallFlags extends ConnectionFlags, Partial<OvnFlags>, SettingsFlags {
  readonly keepCrds?: boolean;
  readonly yes?: boolean;
  readonly dryRun: 'none' | 'client';
  readonly timeout: string;
  readonly webhookConfiguration: string;
  readonly webhookSecret: string;
  readonly journal?: string;
}

const EXAMPLES = `
Examples:
  kiln uninstall --ovn-nb tcp:10.0.0.1:6641 --dry-run=client      print the plan
  kubectl -n kube-system scale deployment kiln-controller --replicas=0
  kiln uninstall --ovn-nb tcp:10.0.0.1:6641                       print the plan, ask, remove all
`;

const EXIT_CODES = `
Exit codes: 0 all removed, 1 a controller leads or something stays, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 130 interrupted.
It removes Kiln's finalizers, since no controller is left to do it. Finalizers of other programs stay, and so do their objects.
`;

const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };

export function addUninstall(program: Command): void {
  const command = program
    .command('uninstall')
    .description('remove Kiln from a cluster: its rows in OVN, its custom resources and their definitions; foreign rows stay')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(
      new Option(
        '--journal <directory>',
        `write the rows here before they go, for kiln undo; or off (default: ${JOURNAL_DEFAULT_TEXT})`,
      ).env('KILN_JOURNAL'),
    )
    .option('--keep-crds', 'keep the CustomResourceDefinitions, without objects')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      new Option('--dry-run <mode>', 'client: print what would be removed, and change nothing').choices(['none', 'client']).default('none'),
    )
    .option('--timeout <duration>', 'time limit of each step', duration, '2m')
    .option('--webhook-configuration <name>', 'ValidatingWebhookConfiguration to remove', CONFIGURATION_NAME)
    .option('--webhook-secret <name>', "Secret of the webhook's certificate to remove", SECRET_NAME);
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: UninstallFlags) => {
    process.exitCode = await onCluster('uninstall', flags, (io) => runUninstall(flags, io));
  });
}

/** @returns the exit code */
export async function runUninstall(flags: UninstallFlags, io: CommandIo): Promise<number> {
  const { client } = io;
  const ovnNb = northboundOf(flags);
  if (ovnNb === undefined)
    throw new CommandFailure(
      EXIT.usage,
      'kiln uninstall needs the Northbound database',
      'neither --ovn-nb nor KILN_OVN_NB is set; without it, rows would stay',
      'kiln uninstall --ovn-nb tcp:HOST:6641 --dry-run=client',
    );
  await client.version();
  const lease: { held?: SoleLeader } = {};
  const journal = flags.dryRun === 'none' ? await openJournal(flags, SILENT) : NO_JOURNAL;
  await using _journal = { [Symbol.asyncDispose]: () => journal.close() };
  if (journal.failure !== undefined)
    throw new CommandFailure(
      EXIT.usage,
      'nothing was removed',
      `what goes is written into the journal first, and --journal=${flags.journal ?? defaultJournal()} cannot be written: ${journal.failure}`,
      'kiln uninstall --journal DIRECTORY',
    );
  const { neighbours } = await settingsFor(flags, io);
  const mayWrite = (): boolean => lease.held?.leads === true;
  await using removal = new RowRemoval({ session: sessionOf(flags, ovnNb), journal, mayWrite, neighbours });
  try {
    await removal.read(requestTimeoutMs(flags));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.unreachable, 'the Northbound database cannot be read', why, commandText`ovn-nbctl --db=${ovnNb} show`);
  }
  const own = ownObjects(flags);
  const found = {
    kinds: await listedKinds(client),
    definitions: await existing(client, definitions(flags)),
    own: await existing(client, own),
  };
  io.out(planLines(found, removal));
  if (flags.dryRun !== 'none') return EXIT.fine;
  await consent(flags, io);
  await using held = await SoleLeader.gain('uninstall', flags.leaseNamespace, io);
  lease.held = held;
  const timeoutMs = parseDuration(flags.timeout) ?? 0;
  // The webhook would deny the following deletions.
  await remove(
    client,
    own.filter(({ resource }) => resource === WEBHOOK_CONFIGURATIONS),
  );
  const rows = await removal.removeAll(held.gains, timeoutMs);
  io.say(rows.count === 0 ? 'no row of Kiln is left in the Northbound database' : `${rows.count} rows stay: ${rows.why.join('; ')}`);
  const { own: undone, foreign: others } = removal.globalKeys();
  if (undone.length > 0) io.say(`NB_Global still has ${undone.join(', ')}, which Kiln set; run kiln uninstall again`);
  if (others.length > 0) io.say(`NB_Global keeps ${others.join(', ')}, which another program set`);
  io.say(
    `NB_Global keeps ${TERM_KEY}, so that a process of this installation that was suspended cannot write after the next one; ` +
      `once none is left: ${commandText`ovn-nbctl --db=${ovnNb} remove NB_Global . external_ids ${TERM_KEY}`}`,
  );
  const kept = await drain(client, timeoutMs);
  if (kept.length > 0) throw keptFailure(kept);
  io.say('no object of kubeovn.io is left');
  if (rows.count > 0)
    throw new CommandFailure(
      EXIT.findings,
      `${rows.count} rows of Kiln stay`,
      rows.why.join('; '),
      'have the programs that they belong to remove the rows in them, then kiln uninstall',
    );
  const undefinedYet = await removeDefinitions(client, flags, timeoutMs);
  if (undefinedYet.length > 0)
    throw new CommandFailure(
      EXIT.findings,
      'CustomResourceDefinitions remain',
      undefinedYet.join(', '),
      commandText`kubectl describe crd ${undefinedYet[0] ?? ''}`,
    );
  await held[Symbol.asyncDispose]();
  await remove(client, own);
  io.say('removed; what was applied by hand is left: kubectl delete -f deploy/webhook.yaml -f deploy/controller.yaml -f deploy/rbac.yaml');
  return EXIT.fine;
}

interface Named {
  readonly resource: Resource;
  readonly name: ObjectName;
}

/** The objects of Kiln itself. */
function ownObjects({ webhookConfiguration, webhookSecret, leaseNamespace: namespace }: UninstallFlags): readonly Named[] {
  return [
    { resource: WEBHOOK_CONFIGURATIONS, name: { name: webhookConfiguration } },
    { resource: SECRETS, name: { namespace, name: webhookSecret } },
    { resource: LEASES, name: { namespace, name: CONTROLLER_LEASE } },
  ];
}

function definitions({ keepCrds }: UninstallFlags): readonly Named[] {
  if (keepCrds === true) return [];
  return CUSTOM_RESOURCES.map(({ plural, group }) => ({ resource: DEFINITIONS, name: { name: `${plural}.${group}` } }));
}

async function existing(client: KubeClient, named: readonly Named[]): Promise<readonly Named[]> {
  const found = await Promise.all(named.map(({ resource, name }) => client.find<KubeObject>(resource, name)));
  return named.filter((_, at) => found[at] !== undefined);
}

async function remove(client: KubeClient, named: readonly Named[]): Promise<void> {
  for (const { resource, name } of named) {
    try {
      await client.delete(resource, name);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}

/** @returns names of CRDs that still exist after the time limit */
async function removeDefinitions(client: KubeClient, flags: UninstallFlags, timeoutMs: number): Promise<readonly string[]> {
  const until = performance.now() + timeoutMs;
  const all = definitions(flags);
  await remove(client, all);
  for (;;) {
    const left = await existing(client, all);
    if (left.length === 0 || performance.now() > until) return left.map(({ name }) => name.name);
    // An object created meanwhile has no finalizer of Kiln, but may have a foreign one.
    await drain(client, 1_000);
  }
}

const NAMED_ROWS = 4;

/** A line about the rows with Kube-OVN's key that Kiln never adopted; none if there are none. */
function leftByKubeOvn({ world }: RowRemoval): readonly string[] {
  const rows = TABLES.flatMap(({ table }) => world.rows.inTable(table)).filter(({ ownership }) => ownership.kind === 'legacy');
  const [first] = rows;
  if (first === undefined) return [];
  const names = rows.slice(0, NAMED_ROWS).map(({ id, table }) => `${table} ${identityOf(id)}`);
  const more = rows.length - names.length;
  const text = `${names.join(', ')}${more > 0 ? `, ${more} more` : ''}`;
  return [`stays too         left by Kube-OVN, ${rows.length}: ${text}; ${commandText`ovn-nbctl list ${first.table} ${first.uuid}`}`];
}

interface Found {
  readonly kinds: readonly ListedKind[];
  readonly definitions: readonly Named[];
  readonly own: readonly Named[];
}

function planLines({ kinds, definitions: defined, own }: Found, removal: RowRemoval): readonly string[] {
  const rows = [...removal.world.rows.ownedCounts].filter(([, count]) => count > 0).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const keys = removal.globalKeys();
  const counted = (texts: readonly string[]): string => (texts.length === 0 ? 'none' : texts.join(' · '));
  return [
    `Northbound rows   ${counted(rows.map(([table, count]) => `${table} ${count}`))}`,
    `global options    ${counted(keys.own)}`,
    `custom resources  ${counted(kinds.map(({ resource, objects }) => `${resource.kind} ${objects.length}`))}`,
    `definitions       ${defined.length === 0 ? 'none' : `${defined.length} of kubeovn.io`}`,
    `its own           ${counted(own.map(({ resource, name }) => `${resource.kind} ${name.namespace === undefined ? '' : `${name.namespace}/`}${name.name}`))}`,
    `stays             ${othersText(removal)}; ${keys.foreign.length === 0 ? '' : `options of NB_Global that another program set: ${keys.foreign.join(', ')}; `}pods, which have no network of Kiln any more; annotations that node agents read; ${TERM_KEY} in NB_Global`,
    ...leftByKubeOvn(removal),
  ];
}

/** Which programs have rows, and how many. */
function othersText({ world }: RowRemoval): string {
  const { neighbours } = neighbourhood(world);
  if (neighbours.length === 0) return 'rows of others: none';
  return `rows of others, none of which is changed: ${neighbours.map(({ name, rows }) => `${name} ${rows}`).join(', ')}`;
}

async function consent({ yes }: UninstallFlags, io: CommandIo): Promise<void> {
  if (yes === true) return;
  if (io.ask === undefined)
    throw new CommandFailure(EXIT.usage, 'nothing was changed', 'there is no terminal for the confirmation', 'kiln uninstall --yes');
  if (
    !(await io.ask(
      'Remove all of this? Pods lose their network. kiln undo brings back rows in OVN alone, if there is a journal, and no object.',
    ))
  )
    throw new CommandFailure(EXIT.findings, 'nothing was changed', 'the answer was no', 'kiln uninstall --dry-run=client');
}

function keptFailure(kept: readonly ListedKind[]): CommandFailure {
  const texts = kept.flatMap(({ resource, objects }) =>
    objects.map((object) => `${resource.kind} ${object.metadata.name} (${foreignFinalizers(object).join(', ') || 'still there'})`),
  );
  const more = texts.length > 10 ? ` and ${texts.length - 10} more` : '';
  return new CommandFailure(
    EXIT.findings,
    'custom resources stay',
    `finalizers of other programs block them: ${texts.slice(0, 10).join(', ')}${more}`,
    'let those programs remove their finalizers, then kiln uninstall',
  );
}
