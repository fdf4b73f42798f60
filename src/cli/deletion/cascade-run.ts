/**
 * Executes a cascade: deletes the steps without blockers, repeatedly, until none is left. Each round reads the state again, so deletions by
 * other users do no harm. It deletes only objects of the plan, and retries while the API server is not reachable.
 */
import { DELETION_BLOCKED } from '../../compile/deletion.ts';
import type { Observation } from '../../controller/reading/observation.ts';
import type { Cascade } from '../../explain/cascade.ts';
import type { TreeObject } from '../../explain/dependents.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeError, KubeErrorCode } from '../../kube/errors.ts';
import { traitsOf } from '../../world/resources.ts';
import type { HeldStep } from './cascade-remainder.ts';
import { CascadeLeft, stepText } from './cascade-remainder.ts';
import type { OwnerPolicy } from './cascade-owners.ts';
import { isGone, scaleOrDeleteOwners } from './cascade-owners.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT, failureOf } from '../errors/command-failure.ts';
import { leaderProblem } from '../cluster/leader.ts';
import { isRetryable, RequestRetry } from '../connection/request-retry.ts';
import type { Workload } from './workload-owner.ts';
import { commandText, inNamespace } from '../../text/command-text.ts';

export interface CascadeRun {
  readonly observation: Observation;
  readonly cascade: Cascade;
  readonly workloads: readonly Workload[];
  readonly owners: OwnerPolicy;
  readonly timeoutMs: number;
  /** The command that continues. */
  readonly again: string;
  /** Namespace of the controller's Lease: an object disappears only after the controller has removed its finalizer. */
  readonly leaseNamespace: string;
  readonly gone: (text: string) => void;
  /** Called once with the deleted objects, however the run ends. */
  readonly report: (gone: readonly string[]) => void;
  readonly io: CommandIo;
}

/** Concurrent deletions. */
const AT_ONCE = 32;
/** After this time without progress the command prints what it waits for. */
const SILENCE_MS = 10_000;
/** Objects that a message names with the foreign row that each waits for. */
const SHOWN_HOLDS = 4;

/** @returns the exit code */
export async function runCascade(run: CascadeRun): Promise<number> {
  const running = new RunningCascade(run);
  run.io.lastWords(() => running.interrupted());
  try {
    await running.scaleOrDeleteOwners();
    await running.deleteSteps();
  } finally {
    running.report();
  }
  return EXIT.fine;
}

class RunningCascade {
  readonly #run: CascadeRun;
  readonly #began = performance.now();
  /** Interval between looks without any change. */
  readonly #retry: RequestRetry;
  readonly #gone: string[] = [];
  /** Uids. */
  readonly #asked = new Set<string>();
  /** Uids. */
  readonly #endingOwners: ReadonlySet<string>;
  #left: CascadeLeft;
  #lastGone = performance.now();
  #waitedFor = '';
  readonly #warned = new Set<string>();
  #reported = false;

  constructor(run: CascadeRun) {
    this.#run = run;
    this.#retry = new RequestRetry(run.timeoutMs, (text) => run.io.say(text));
    this.#endingOwners = new Set(run.owners === 'keep' ? [] : run.cascade.owned.map(({ owner }) => owner.uid));
    this.#left = new CascadeLeft(run.observation.world, run.cascade.steps, this.#endingOwners);
  }

  report(): void {
    if (this.#reported) return;
    this.#reported = true;
    this.#run.report(this.#gone);
  }

  interrupted(): string {
    this.report();
    return `interrupted: ${this.#gone.length} deleted, ${this.#left.steps.length} left; the deletions stay; to continue: ${this.#run.again}`;
  }

  async scaleOrDeleteOwners(): Promise<void> {
    const { workloads, owners, io } = this.#run;
    await scaleOrDeleteOwners(workloads, owners, io, this.#retry);
  }

  async deleteSteps(): Promise<void> {
    const { observation, owners, workloads, io } = this.#run;
    if (owners === 'keep' && workloads.length > 0) await this.#closeSubnets();
    for (;;) {
      this.#look();
      if (this.#left.steps.length === 0) break;
      const [failed] = (await this.#ask(this.#left.free)).filter((error) => !isDeniedByBlockers(error));
      if (failed !== undefined) throw this.#failureOf(failed);
      this.#warnOfNewDependents();
      if (this.#left.stuck) throw this.#stuck();
      const held = this.#left.foreignHolds(observation.northboundRead);
      if (held.length > 0) throw this.#heldByOthers(held);
      if (this.#retry.isOver) throw await this.#timedOut();
      await this.#reportWaiting();
      await observation.changed(this.#retry.pauseMs);
    }
    io.say(`${this.#gone.length} deleted in ${((performance.now() - this.#began) / 1_000).toFixed(1)} s`);
  }

  #look(): void {
    const before = this.#left.steps;
    this.#left = new CascadeLeft(this.#run.observation.world, before, this.#endingOwners);
    const still = new Set(this.#left.steps);
    for (const step of before) {
      if (still.has(step)) continue;
      this.#gone.push(stepText(step));
      this.#run.gone(stepText(step));
      this.#lastGone = performance.now();
    }
  }

  /** Deletes first what gives addresses, so that new pods get none of it. If admission denies that, the leaves go first. */
  async #closeSubnets(): Promise<void> {
    for (const step of this.#left.steps.filter(({ resource }) => traitsOf(resource).givesAddresses === true)) {
      const error = await this.#askUntilAnswered(step);
      if (error === undefined) continue;
      if (!STAYS_OPEN.some((code) => isKubeError(error, code))) throw this.#failureOf(error);
      this.#asked.delete(step.uid ?? '');
      this.#run.io.say(
        `${traitsOf(step.resource).kind} ${step.name} still accepts new dependents: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  async #askUntilAnswered(step: TreeObject): Promise<unknown> {
    for (;;) {
      const [error] = await this.#ask([step]);
      if (error !== undefined || this.#retry.trouble === undefined) return error;
      if (this.#retry.isOver) throw await this.#timedOut();
      await this.#run.observation.changed(this.#retry.pauseMs);
    }
  }

  /**
   * Deletes each step once, with the uid of the plan as a precondition, and again if the API server was unavailable.
   * @returns the errors of the deletions that failed
   */
  async #ask(steps: readonly TreeObject[]): Promise<readonly unknown[]> {
    const { io } = this.#run;
    const due = steps.filter(({ uid }) => uid !== undefined && !this.#asked.has(uid));
    const failures: unknown[] = [];
    for (let at = 0; at < due.length && failures.length === 0; at += AT_ONCE) {
      let trouble: KubeError | undefined;
      await Promise.all(
        due.slice(at, at + AT_ONCE).map(async ({ resource, namespace, name, uid = '' }) => {
          this.#asked.add(uid);
          try {
            await io.client.delete(traitsOf(resource), namespace === '' ? { name } : { name, namespace }, { uid });
          } catch (error) {
            if (isGone(error)) return;
            if (isDeniedByBlockers(error)) this.#asked.delete(uid);
            // The kind was listed before, so this API server has just started and does not serve custom resources yet.
            if (!isRetryable(error) && !isKubeError(error, 'KUBE_NOT_SERVED')) return void failures.push(error);
            this.#asked.delete(uid);
            trouble = error;
          }
        }),
      );
      this.#retry.note(trouble);
      // The other deletions would fail in the same way.
      if (trouble !== undefined) break;
    }
    return failures;
  }

  #warnOfNewDependents(): void {
    for (const name of this.#left.unplannedBlockers) {
      if (this.#warned.has(name)) continue;
      this.#warned.add(name);
      this.#run.io.say(`${name} is new and was not in the plan: it is not deleted`);
    }
  }

  async #reportWaiting(): Promise<void> {
    if (performance.now() - Math.max(this.#lastGone, this.#began) < SILENCE_MS) return;
    const { text } = this.#left;
    if (text === this.#waitedFor) return;
    this.#waitedFor = text;
    this.#run.io.say(`${this.#gone.length} deleted, still there: ${text}`);
    const problem = await this.#noLeader();
    if (problem !== undefined) this.#run.io.say(problem);
  }

  async #noLeader(): Promise<string | undefined> {
    try {
      return await leaderProblem(this.#run.io, this.#run.leaseNamespace);
    } catch {
      // The deletion reports an unreachable API server.
      return undefined;
    }
  }

  #failureOf(error: unknown): CommandFailure {
    const { exit, why, next } = failureOf(error, 'delete');
    return this.#failure(exit, why, `${next}; then ${this.#run.again}`);
  }

  /** All remaining steps have blockers outside of the plan. */
  #stuck(): CommandFailure {
    const why = `blocked by new objects that the plan did not show: ${this.#left.unplannedBlockers.join(', ')}`;
    return this.#failure(EXIT.findings, why, this.#run.again);
  }

  /** Rows of other programs are in the rows of what is left. No waiting of this command helps: those programs decide. */
  #heldByOthers(held: readonly HeldStep[]): CommandFailure {
    const [first] = held;
    const texts = held.slice(0, SHOWN_HOLDS).map(({ step, hold }) => `${stepText(step)} waits for ${hold.text}`);
    const more = held.length > texts.length ? `; and ${held.length - texts.length} more` : '';
    const isAsked = this.#left.steps.every(({ uid = '' }) => this.#asked.has(uid));
    const after = isAsked
      ? 'the deletion ends by itself once its program has removed it'
      : `once its program has removed it: ${this.#run.again}`;
    return this.#failure(
      EXIT.findings,
      `rows of other programs are never deleted: ${texts.join('; ')}${more}`,
      `${first?.hold.next ?? 'kiln neighbours'} shows the row; ${after}`,
    );
  }

  async #timedOut(): Promise<CommandFailure> {
    const met = this.#retry.trouble;
    const problem = met === undefined ? await this.#noLeader() : `${met.code}: ${met.message}`;
    const trouble = problem === undefined ? '' : `${problem}; `;
    const { steps, text } = this.#left;
    const [first] = steps;
    const looked =
      first === undefined ? 'kiln status' : commandText`kiln explain ${first.type} ${first.name} ${inNamespace(first.namespace)}`;
    // A deleted object that waits only for a foreign finalizer needs no further command.
    const again = steps.every(({ uid = '' }) => this.#asked.has(uid)) ? '' : `; then ${this.#run.again}`;
    return this.#failure(EXIT.timeout, `${trouble}not gone in time: ${text}`, `${looked}${again}`);
  }

  #failure(exit: CommandFailure['exit'], why: string, next: string): CommandFailure {
    const total = this.#run.cascade.steps.length;
    return new CommandFailure(exit, `${this.#left.steps.length} of the ${total} objects are still there`, why, next);
  }
}

/** The admission webhook has its own watches and may not have seen yet that the blockers are gone. */
function isDeniedByBlockers(error: unknown): boolean {
  return isKubeError(error) && error.causes.some(({ reason }) => reason === DELETION_BLOCKED);
}

const STAYS_OPEN: readonly KubeErrorCode[] = ['KUBE_FORBIDDEN', 'KUBE_DENIED', 'KUBE_INVALID', 'KUBE_BAD_REQUEST'];
