/**
 * Carries out the plan of a repair, step by step, alone: it holds the controller's Lease. Before each step the plan is made anew from what is
 * observed by then; unless that is exactly the step that was shown, the repair stops. A step is whole: its rows are one transaction, and
 * each of its objects is one request for the version that was seen.
 */
import { operationOf } from '../../commit/object-writer.ts';
import type { Part } from '../../commit/transaction.ts';
import type { FreshController } from '../../controller/fresh-controller.ts';
import { LoneWriter } from '../../controller/lone-writer.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/errors.ts';
import { isGone } from '../../kube/resource.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { sendIntent } from '../../kube/write/write-intent.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import { keyOf, traitsOf } from '../../world/resources.ts';
import type { PlannedStep, RepairPlan } from './repair-plan.ts';
import { aliasOf } from './repair-plan.ts';
import type { RepairStep } from './repair-steps.ts';
import { nextStep, stepTexts } from './repair-steps.ts';

export interface RepairGround {
  readonly fresh: FreshController;
  readonly session: OvsdbSession;
  readonly client: KubeClient;
  readonly journal: Journal;
  /** `leaseTransitions` of the Lease when it was acquired. */
  readonly gains: number;
  /** Why nothing may be written now: another controller leads. Called before each write. */
  readonly obstacle: () => string | undefined;
  /** The user has pressed Ctrl-C: called before each write. */
  readonly interrupted: () => boolean;
  readonly timeoutMs: number;
  readonly say: (line: string) => void;
}

export interface RepairOutcome {
  /** Writes that took effect. */
  readonly done: readonly string[];
  readonly notDone: readonly string[];
  /** Why it stopped; undefined: all was done. */
  readonly stopped: string | undefined;
}

const INTERRUPTED = 'Ctrl-C';

export async function carryOut({ steps, rows, objects }: RepairPlan, ground: RepairGround): Promise<RepairOutcome> {
  const { fresh, session, journal, gains, timeoutMs, say } = ground;
  const done: string[] = [];
  const lines = steps.flatMap((step) => step.lines);
  const stop = (stopped: string): RepairOutcome => ({ done, notDone: lines.slice(done.length), stopped });
  const mayWrite = (): boolean => ground.obstacle() === undefined && !ground.interrupted();
  const writer = new LoneWriter({ session, world: fresh.world, desired: fresh.desired.rows, journal, mayWrite });
  const part = { row: rows.has.bind(rows), object: objects.has.bind(objects) };
  const aliases = new Map<string, string>();
  const why = (): string | undefined => ground.obstacle() ?? (ground.interrupted() ? INTERRUPTED : undefined);
  if (steps.some((step) => step.rows.length > 0) && !(await writer.raise(gains)))
    return stop(why() ?? 'the term in NB_Global cannot be written');
  for (const [at, step] of steps.entries()) {
    await fresh.derived(timeoutMs);
    const obstacle = why();
    if (obstacle !== undefined) return stop(obstacle);
    const due = nextStep(fresh.plan(part));
    const difference = differenceOf(step, due, aliases);
    if (difference !== undefined) return stop(`the plan is not what was shown any more: ${difference}`);
    if (due === undefined) continue;
    say(`step ${at + 1} of ${steps.length}: ${step.kind}, ${step.lines.length}`);
    if (due.rows.length > 0) {
      const parts = due.rows.flatMap(({ id, verdict }): readonly Part[] =>
        verdict.kind !== 'change' ? [] : [{ id, edits: verdict.edits, ...(verdict.inserts !== undefined && { inserts: verdict.inserts }) }],
      );
      const written = await writer.write(parts, 'repair');
      if (!written.ok) {
        const unknown = written.unknown ? '; whether this step took effect is not known' : '';
        return stop(why() ?? `${written.problem}${unknown}`);
      }
      done.push(...lines.slice(done.length, done.length + step.rows.length));
    }
    for (const write of due.objects) {
      const now = why();
      if (now !== undefined) return stop(now);
      const problem = await writeObject(write, ground, aliases);
      if (problem !== undefined) return stop(problem);
      const line = lines[done.length];
      if (line !== undefined) done.push(line);
    }
    // A step that another took part in is over once all of it is done.
    done.push(...lines.slice(done.length, steps.slice(0, at + 1).flatMap((one) => one.lines).length));
  }
  return { done, notDone: [], stopped: undefined };
}

/** Undefined if the step is exactly what was shown. */
function differenceOf(shown: PlannedStep, due: RepairStep | undefined, aliases: ReadonlyMap<string, string>): string | undefined {
  const texts = due === undefined ? [] : stepTexts(due, aliases);
  const extra = texts.find((text) => !shown.texts.includes(text));
  const missing = shown.texts.find((text) => !texts.includes(text));
  if (missing !== undefined) return `not due any more, or otherwise: ${missing.slice(0, 300)}`;
  return extra === undefined ? undefined : `due now, and not shown: ${extra.slice(0, 300)}`;
}

/** @returns why it failed */
async function writeObject(write: ObjectWrite, ground: RepairGround, aliases: Map<string, string>): Promise<string | undefined> {
  const { client, fresh, timeoutMs } = ground;
  const { group, version, plural, kind, namespaced } = traitsOf(write.resource);
  const key = keyOf({ metadata: write });
  try {
    const answer = await sendIntent(
      client,
      {
        resource: { group, version, plural, kind, namespaced },
        ...(write.namespace === '' ? {} : { namespace: write.namespace }),
        name: write.name,
        lane: 'object',
        ...(write.verb === 'create' ? {} : { uid: write.uid }),
        ...(write.verb === 'patch' && write.resourceVersion !== undefined ? { resourceVersion: write.resourceVersion } : {}),
        operation: operationOf(write),
      },
      false,
      AbortSignal.timeout(timeoutMs),
    );
    if (write.verb === 'create' && answer?.metadata.uid !== undefined) aliases.set(answer.metadata.uid, aliasOf(write));
    const isObserved = await observed(fresh, write, key, answer, timeoutMs);
    return isObserved ? undefined : `${kind} ${key}: it is written, and the change was not observed in ${timeoutMs / 1_000} s`;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return `${kind} ${key}: ${error.code}: ${error.message}`;
  }
}

const LOOK_MS = 5;

/** Waits until the rules can see the answer. */
async function observed(
  { world }: FreshController,
  write: ObjectWrite,
  key: string,
  answer: KubeObject | undefined,
  timeoutMs: number,
): Promise<boolean> {
  const goes = write.verb === 'delete' && (answer === undefined || isGone(answer));
  const until = performance.now() + timeoutMs;
  for (;;) {
    const held = world.tables[write.resource]?.peek(key)?.metadata;
    // An object that is gone has been observed later than any answer about it.
    if (held === undefined ? write.verb !== 'create' : !goes && isSince(held.resourceVersion, answer?.metadata.resourceVersion))
      return true;
    if (held !== undefined && write.verb !== 'create' && held.uid !== write.uid) return true;
    if (performance.now() > until) return false;
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

function isSince(held: string | undefined, answered: string | undefined): boolean {
  if (held === undefined || answered === undefined || held === answered) return true;
  return /^\d+$/.test(held) && /^\d+$/.test(answered) && BigInt(held) >= BigInt(answered);
}
