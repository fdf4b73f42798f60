/**
 * `kiln migrate back`: makes the objects ready for Kube-OVN's controller again, after the last controller of Kiln has stopped. Rows need
 * nothing: Kube-OVN knows them by their names and by its own key, which Kiln keeps.
 */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { keyOf } from '../../kube/resource.ts';
import { commandText } from '../../text/command-text.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import { namespaceName } from '../arguments/name-arguments.ts';
import type { LeaseFlags } from '../cluster/leader.ts';
import { addLeaseFlag } from '../cluster/leader.ts';
import { SoleLeader } from '../cluster/sole-leader.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { listedKinds } from '../deletion/custom-resource-deletion.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { handedBackFinalizers } from '../migration/handed-back-finalizers.ts';
import type { ControllerDeployment } from '../migration/kube-ovn-controller.ts';
import { DEPLOYMENTS, KUBE_OVN_CONTROLLER, kubeOvnControllerOf } from '../migration/kube-ovn-controller.ts';

export interface MigrateBackFlags extends ConnectionFlags, LeaseFlags {
  readonly kubeOvnNamespace: string;
  /** The minor release of 1.x. */
  readonly kubeOvn?: number;
  readonly yes?: boolean;
  readonly dryRun: 'none' | 'client';
}

const EXAMPLES = `
Examples:
  kubectl -n kube-system scale deployment kiln-controller --replicas=0
  kiln migrate back --dry-run=client                                    print the plan
  kiln migrate back                                                     print the plan, ask, do it
  kubectl -n kube-system scale deployment kube-ovn-controller --replicas=1
`;

const EXIT_CODES = `
Exit codes: 0 ready for Kube-OVN, 1 a controller leads or an object stays as it is, 2 wrong usage, 3 cluster unreachable, or forbidden.
Kiln puts a finalizer on kinds that Kube-OVN, or the release of it, gives none: its controller would never take that off. The command can
be run again at any point.
`;

export function addMigrateBack(migrate: Command): void {
  const command = migrate
    .command('back')
    .description('make finalizers of the objects those of a release of Kube-OVN, before its controller is started again')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--kube-ovn <release>', 'the release that takes over (default: that of its Deployment)', minorRelease)
    .option('--kube-ovn-namespace <name>', "namespace of Kube-OVN's controller", namespaceName, 'kube-system')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(
      new Option('--dry-run <mode>', 'client: print what would be changed, and change nothing').choices(['none', 'client']).default('none'),
    );
  addLeaseFlag(addConnectionFlags(command)).action(async (flags: MigrateBackFlags) => {
    process.exitCode = await onCluster('migrate back', flags, (io) => runMigrateBack(flags, io));
  });
}

function minorRelease(text: string): number {
  const minor = /^v?1\.(\d{1,3})(\.\d+)?$/.exec(text)?.[1];
  if (minor === undefined) throw new InvalidArgumentError(`"${text}" is no release of Kube-OVN such as 1.12.35 or 1.14.`);
  return Number(minor);
}

interface Change {
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly finalizers: readonly string[];
}

interface BackPlan {
  readonly changes: readonly Change[];
  /** Objects that are being deleted: their finalizers can only be taken off by the controller that put them on. */
  readonly terminating: readonly Change[];
}

/** @returns the exit code */
export async function runMigrateBack(flags: MigrateBackFlags, io: CommandIo): Promise<number> {
  await io.client.version();
  const minor = flags.kubeOvn ?? (await releaseOf(flags, io));
  const plan = await backPlan(io, minor);
  io.out([...planLines(plan), `for Kube-OVN 1.${minor}`]);
  if (flags.dryRun !== 'none') return EXIT.fine;
  if (plan.changes.length > 0) await consent(flags, io);
  await using _held = await SoleLeader.gain('migrate back', flags.leaseNamespace, io);
  // Again: a controller may have written since.
  let left = await backPlan(io, minor);
  for (let round = 0; left.changes.length > 0 && round < MOST_ROUNDS; round++) {
    for (let at = 0; at < left.changes.length; at += AT_ONCE)
      await Promise.all(left.changes.slice(at, at + AT_ONCE).map((change) => write(io, change)));
    left = await backPlan(io, minor);
  }
  const [stuck] = [...left.changes, ...left.terminating];
  if (stuck !== undefined)
    throw new CommandFailure(
      EXIT.findings,
      `${left.changes.length + left.terminating.length} objects are not ready for Kube-OVN`,
      left.changes.length > 0
        ? 'other programs change them at the same time'
        : `${named(stuck)} is being deleted: only Kiln's controller ends that, and Kube-OVN's would not`,
      left.changes.length > 0
        ? 'kiln migrate back'
        : commandText`kubectl -n ${flags.leaseNamespace} scale deployment kiln-controller --replicas=1`,
    );
  const next = commandText`kubectl -n ${flags.kubeOvnNamespace} scale deployment ${KUBE_OVN_CONTROLLER} --replicas=1`;
  io.say(`ready for Kube-OVN; next: ${next}`);
  return EXIT.fine;
}

const AT_ONCE = 32;
const MOST_ROUNDS = 5;

async function releaseOf({ kubeOvnNamespace: namespace }: MigrateBackFlags, io: CommandIo): Promise<number> {
  const found = await io.client.find<ControllerDeployment>(DEPLOYMENTS, { namespace, name: KUBE_OVN_CONTROLLER });
  const version = found === undefined ? null : kubeOvnControllerOf(found).version;
  const minor = /^1\.(\d+)\./.exec(version ?? '')?.[1];
  if (minor !== undefined) return Number(minor);
  throw new CommandFailure(
    EXIT.usage,
    'nothing was changed',
    found === undefined
      ? `there is no Deployment ${namespace}/${KUBE_OVN_CONTROLLER}, so the release of Kube-OVN is not known`
      : `neither image nor labels of Deployment ${namespace}/${KUBE_OVN_CONTROLLER} tell the release of Kube-OVN`,
    'kiln migrate back --kube-ovn 1.14.41',
  );
}

async function backPlan({ client }: CommandIo, minor: number): Promise<BackPlan> {
  const since = new Map(RESOURCE_NAMES.map((resource) => [traitsOf(resource).plural, traitsOf(resource).kubeOvnFinalizer]));
  const listed = await listedKinds(client);
  const due = listed.flatMap(({ resource, objects }) =>
    objects.flatMap((object): Change[] => {
      const finalizers = handedBackFinalizers(object, minor, since.get(resource.plural));
      return finalizers === undefined ? [] : [{ resource, object, finalizers }];
    }),
  );
  const isTerminating = ({ object }: Change): boolean => (object.metadata.deletionTimestamp ?? '') !== '';
  return { changes: due.filter((change) => !isTerminating(change)), terminating: due.filter(isTerminating) };
}

/** A conflict or a missing object is no failure: the next round reads it again. */
const MEANWHILE: readonly KubeErrorCode[] = ['KUBE_NOT_FOUND', 'KUBE_NOT_SERVED', 'KUBE_CONFLICT', 'KUBE_PRECONDITION'];

async function write({ client }: CommandIo, { resource, object: { metadata }, finalizers }: Change): Promise<void> {
  const { name, namespace, uid, resourceVersion } = metadata;
  try {
    await client.mergePatch(resource, { name, namespace }, { metadata: { uid, resourceVersion, finalizers } });
  } catch (error) {
    if (!MEANWHILE.some((code) => isKubeError(error, code))) throw error;
  }
}

function named({ resource, object }: Change): string {
  return `${resource.kind} ${keyOf(object.metadata)}`;
}

function planLines({ changes, terminating }: BackPlan): readonly string[] {
  const counted = (all: readonly Change[]): string =>
    [...Map.groupBy(all, ({ resource }) => resource.kind)].map(([kind, objects]) => `${kind} ${objects.length}`).join(' · ') || 'none';
  return [
    `finalizer renamed    ${counted(changes.filter(({ finalizers, object }) => finalizers.length === object.metadata.finalizers?.length))}`,
    `finalizer removed    ${counted(changes.filter(({ finalizers, object }) => finalizers.length !== object.metadata.finalizers?.length))}`,
    `being deleted        ${counted(terminating)}${terminating.length === 0 ? '' : ': Kiln has to end these first'}`,
  ];
}

async function consent({ yes }: MigrateBackFlags, io: CommandIo): Promise<void> {
  if (yes === true) return;
  if (io.ask === undefined)
    throw new CommandFailure(EXIT.usage, 'nothing was changed', 'there is no terminal for the confirmation', 'kiln migrate back --yes');
  if (!(await io.ask('Change these finalizers?')))
    throw new CommandFailure(EXIT.findings, 'nothing was changed', 'the answer was no', 'kiln migrate back --dry-run=client');
}
