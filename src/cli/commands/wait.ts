/** `kiln wait`: waits until objects have reached a state, and says why when they do not. Watches; reads only. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { awaitedState, awaitedText, canBeBound, notYet } from '../../explain/awaited-state.ts';
import type { AwaitedState } from '../../explain/awaited-state.ts';
import { typedName } from '../../explain/kind-names.ts';
import { commandText } from '../../text/command-text.ts';
import { traitsOf } from '../../world/resources.ts';
import { namespaceName } from '../arguments/name-arguments.ts';
import type { NamedObject } from '../arguments/object-argument.ts';
import { objectArgument, typeText } from '../arguments/object-argument.ts';
import type { LeaseFlags } from '../cluster/leader.ts';
import { addLeaseFlag, leaderProblem } from '../cluster/leader.ts';
import { ObjectWatch } from '../cluster/object-watch.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { addConnectionFlags, duration, onCluster, requestTimeoutMs } from '../connection/cluster-command.ts';
import { isRetryable } from '../connection/request-retry.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { KubeError } from '../../kube/errors.ts';
import { KUBE_ADVICE } from '../errors/error-advice.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';

export interface WaitFlags extends ConnectionFlags, LeaseFlags {
  readonly for: string;
  readonly namespace?: string;
  readonly timeout: string;
  readonly output: 'table' | 'name' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln wait subnet/red vpc/blue --for=Ready            both are in place in OVN; they need not exist yet
  kiln wait pod/web-0 -n shop --for=Bound              it has its addresses
  kiln wait vpc/blue --for=Deleted --timeout=5m        it is gone; else what blocks it
  kiln wait vlan/v10 --for=condition=Accepted          any condition; condition=Accepted=False: with that status
`;

const EXIT_CODES = `
Exit codes: 0 all have reached the state, 2 wrong usage, 3 cluster unreachable or forbidden, 4 timed out, 130 interrupted.
`;

const STATES = 'Ready, Bound, Deleted, condition=TYPE or condition=TYPE=STATUS';
/** With less patience, the Lease is not read: whether it is renewed takes some seconds to know. */
const LEADER_MS = 5_000;

export function addWait(program: Command): void {
  const command = program
    .command('wait')
    .description('wait until objects are ready, bound to their network, deleted, or have a condition; print why if they are not')
    .argument('<object...>', 'KIND/NAME or KIND/NAMESPACE/NAME, several; or a kind and its names')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(new Option('--for <state>', STATES).argParser(stateArgument).makeOptionMandatory())
    .option('-n, --namespace <name>', "namespace of the objects (default: the context's)", namespaceName)
    .option('--timeout <duration>', 'time limit of the wait; 0: look once', patience, '30s')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'name', ...STRUCTURED_FORMATS]).default('table'));
  addLeaseFlag(addConnectionFlags(command)).action(async (objects: readonly string[], flags: WaitFlags) => {
    process.exitCode = await onCluster('wait', flags, (io) => runWait(objects, flags, io));
  });
}

function stateArgument(text: string): string {
  if (awaitedState(text) === undefined) throw new InvalidArgumentError(`"${text}" is none of ${STATES}.`);
  return text;
}

function patience(text: string): string {
  return text === '0' ? '0s' : duration(text);
}

/** An object that is waited for. */
interface Awaited {
  readonly named: NamedObject;
  readonly watch: ObjectWatch;
  /** Uid that it had at first. */
  uid: string | undefined;
  reached: boolean;
  /** Why it has not reached the state. */
  why: string;
}

/** @returns the exit code */
export async function runWait(objects: readonly string[], flags: WaitFlags, io: CommandIo): Promise<number> {
  const state = awaitedState(flags.for) as AwaitedState;
  const timeoutMs = parseDuration(flags.timeout) ?? 0;
  let wake = (): void => undefined;
  const all = namedObjects(objects, flags.namespace ?? io.namespace, state).map((named): Awaited => {
    const watch = new ObjectWatch({ client: io.client, object: named, changed: () => wake() });
    return { named, watch, uid: undefined, reached: false, why: '' };
  });
  io.lastWords(() => `interrupted: ${unreachedText(state, all)}`);
  const began = performance.now();
  const timers = [timeoutMs, requestTimeoutMs(flags)].map((ms) => setTimeout(() => wake(), ms + 1));
  try {
    for (const { watch } of all) watch.start();
    for (;;) {
      const changed = new Promise<void>((done) => (wake = done));
      for (const one of all) look(state, one, io);
      const waited = performance.now() - began;
      const left = all.filter(({ reached }) => !reached);
      if (left.length === 0) break;
      // The first answer is awaited even with a time-out of 0.
      const isAnswered = left.every(({ watch }) => watch.known) || waited >= requestTimeoutMs(flags);
      if (waited >= timeoutMs && isAnswered) break;
      await changed;
    }
  } finally {
    for (const timer of timers) clearTimeout(timer);
    // The client's end closes the watches that are still open.
    for (const { watch } of all) void watch.close();
  }
  io.out(outputOf(flags, state, all));
  if (all.every(({ reached }) => reached)) return EXIT.fine;
  throw await timedOut(flags, state, all, timeoutMs, io);
}

/** A kind that is not served yet, or an API server that is away. */
function mayPass(failure: KubeError): boolean {
  return failure.code === 'KUBE_NOT_SERVED' || isRetryable(failure);
}

/** @throws KubeError where waiting does not help: no rights */
function look(state: AwaitedState, one: Awaited, io: CommandIo): void {
  const { named, watch, reached } = one;
  if (reached) return;
  const { failure, object } = watch;
  if (failure !== undefined && !mayPass(failure)) throw failure;
  one.uid ??= object?.metadata.uid;
  const why = whyNot(state, one);
  one.reached = why === undefined;
  const isKnown = watch.known || failure !== undefined;
  if (isKnown && why !== undefined && why !== one.why) io.say(`waiting for ${nameText(named)} to be ${awaitedText(state)}: ${why}`);
  one.why = why ?? '';
}

function whyNot(state: AwaitedState, { named: { resource }, watch, uid }: Awaited): string | undefined {
  const { plural, group } = traitsOf(resource);
  if (watch.failure?.code === 'KUBE_NOT_SERVED' && !(watch.known && state.kind === 'deleted'))
    return `the API server does not serve ${plural}.${group}`;
  if (!watch.known)
    return watch.failure === undefined ? 'the API server has not answered yet' : `${watch.failure.code}: ${watch.failure.message}`;
  return notYet(state, resource, watch.object, uid);
}

function namedObjects(texts: readonly string[], namespace: string, state: AwaitedState): readonly NamedObject[] {
  const [first = '', ...names] = texts;
  const named = first.includes('/')
    ? texts.map((text) => objectArgument('wait', text, undefined, namespace))
    : (names.length === 0 ? [undefined] : names).map((name) => objectArgument('wait', first, name, namespace));
  const unbound = state.kind === 'bound' ? named.find(({ resource }) => !canBeBound(resource)) : undefined;
  if (unbound === undefined) return named;
  const { kind } = traitsOf(unbound.resource);
  const next = commandText`kiln wait ${typedName(unbound.resource)}/${unbound.name} --for=Ready`;
  throw new CommandFailure(EXIT.usage, 'kiln wait was not run', `--for=Bound: a ${kind} has no address of its own`, next);
}

function outputOf({ output }: WaitFlags, state: AwaitedState, all: readonly Awaited[]): readonly string[] | string {
  if (output !== 'table' && output !== 'name')
    return structuredText(output, 'Wait', {
      for: awaitedText(state),
      objects: all.map(({ named, reached, why }) => ({ ...named, reached, ...(reached ? {} : { why }) })),
    });
  const reached = all.filter((one) => one.reached).map(({ named }) => resourceText(named));
  return output === 'name' ? reached : reached.map((text) => `${text} is ${awaitedText(state)}`);
}

async function timedOut(
  flags: WaitFlags,
  state: AwaitedState,
  all: readonly Awaited[],
  timeoutMs: number,
  io: CommandIo,
): Promise<CommandFailure> {
  const left = all.filter(({ reached }) => !reached);
  const what = `${timeoutMs === 0 ? '' : `not after ${timeoutMs / 1_000} s: `}${unreachedText(state, left)}`;
  const failures = left.flatMap(({ watch: { known, failure } }) => (known || failure === undefined ? [] : [failure]));
  const failure = failures.find(({ code }) => code !== 'KUBE_NOT_SERVED');
  if (failure !== undefined)
    return new CommandFailure(EXIT.unreachable, what, `${failure.code}: ${failure.message}`, KUBE_ADVICE[failure.code]);
  const why = left.map(({ named, why: one }) => (left.length === 1 ? one : `${nameText(named)}: ${one}`)).join('; ');
  const unattended = timeoutMs < LEADER_MS ? undefined : await leaderProblem(io, flags.leaseNamespace);
  const { named } = left[0] as Awaited;
  return new CommandFailure(
    EXIT.timeout,
    what,
    unattended === undefined ? why : `${why}; ${unattended}`,
    failures.length > 0 ? KUBE_ADVICE.KUBE_NOT_SERVED : commandText`kiln explain ${typedName(named.resource)} ${pathOf(named)}`,
  );
}

function unreachedText(state: AwaitedState, all: readonly Awaited[]): string {
  const names = all.filter(({ reached }) => !reached).map(({ named }) => nameText(named));
  const shown = names.slice(0, 5).join(', ');
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return `${shown}${more} ${names.length === 1 ? 'is' : 'are'} not ${awaitedText(state)}`;
}

function pathOf({ namespace, name }: NamedObject): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

function nameText(named: NamedObject): string {
  return `${traitsOf(named.resource).kind} ${pathOf(named)}`;
}

/** As `kiln status -o name` prints it. */
function resourceText(named: NamedObject): string {
  return `${typeText(named.resource)}/${pathOf(named)}`;
}
