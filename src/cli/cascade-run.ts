/**
 * Carries a cascade out: whatever of it nothing holds any more is deleted, until all of it is gone. Each look is a fresh one, so
 * it does not matter who deletes what in between; nothing is deleted that was not shown.
 */
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import { blockersOf } from '../blockers/graph.ts';
import type { Observation } from '../controller/observation.ts';
import type { Cascade } from '../explain/cascade.ts';
import type { TreeObject } from '../explain/dependents.ts';
import { isKubeError } from '../kube/errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { keyOf, traitsOf } from '../world/resources.ts';
import type { CommandIo } from './cluster-command.ts';
import { CommandFailure, EXIT } from './command-failure.ts';
import { typeText } from './object-argument.ts';
import type { Workload } from './workload-owner.ts';
import { workloadText } from './workload-owner.ts';

export interface CascadeRun {
  readonly observation: Observation;
  readonly cascade: Cascade;
  readonly workloads: readonly Workload[];
  readonly owners: 'keep' | 'scale' | 'delete';
  readonly timeoutMs: number;
  /** The command that goes on. */
  readonly again: string;
  readonly gone: (text: string) => void;
  readonly report: (gone: readonly string[]) => void;
  readonly io: CommandIo;
}

/** Deletions under way at once. */
const AT_ONCE = 32;
/** Even without a change there is another look. */
const LOOK_MS = 1_000;

/** @returns the exit code */
export async function carryOut(run: CascadeRun): Promise<number> {
  const { observation, cascade, io, owners } = run;
  const { world } = observation;
  const until = performance.now() + run.timeoutMs;
  const gone: string[] = [];
  const asked = new Set<string>();
  let left = cascade.steps;
  io.lastWords(() => `interrupted: ${gone.length} deleted, ${left.length} left; nothing is undone; to go on: ${run.again}`);
  await settleOwners(run);
  if (owners === 'keep' && run.workloads.length > 0) await closeSubnets(run, asked);
  for (;;) {
    const still = left.filter((step) => world.tables[step.resource]?.peek(keyOf({ metadata: step }))?.metadata.uid === step.uid);
    for (const step of left) {
      if (still.includes(step)) continue;
      gone.push(textOf(step));
      run.gone(textOf(step));
    }
    left = still;
    if (left.length === 0) break;
    const free = left.filter((step) => blockersOf(world, step.resource, keyOf({ metadata: step })).count === 0);
    await ask(run, free, asked);
    if (free.length === 0) refuseStrangers(run, left);
    if (performance.now() > until) {
      run.report(gone);
      throw timedOut(run, left);
    }
    await observation.changed(Math.min(LOOK_MS, Math.max(until - performance.now(), 1)));
  }
  run.report(gone);
  io.say(`${gone.length} deleted in ${((performance.now() - until + run.timeoutMs) / 1_000).toFixed(1)} s`);
  return EXIT.fine;
}

type Scaled = KubeObject & { readonly spec?: { readonly replicas?: number } };

async function settleOwners({ workloads, owners, io }: CascadeRun): Promise<void> {
  if (owners === 'keep') return;
  const fixed = owners === 'scale' ? workloads.find(({ scales }) => !scales) : undefined;
  if (fixed !== undefined)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was deleted',
      `${workloadText(fixed)} cannot be scaled`,
      'delete it first, or use --owners=delete',
    );
  for (const workload of workloads) {
    const { resource, namespace, name, uid } = workload;
    if (owners === 'delete') {
      await io.client.delete(resource, { name, namespace }, { uid, propagation: 'Background' });
      io.say(`${workloadText(workload)} deleted`);
      continue;
    }
    const { spec } = await io.client.get<Scaled>(resource, { name, namespace });
    await io.client.mergePatch(resource, { name, namespace }, { metadata: { uid }, spec: { replicas: 0 } });
    const undo = `kubectl scale ${resource.kind.toLowerCase()} ${name} -n ${namespace} --replicas=${spec?.replicas ?? 1}`;
    io.say(`${workloadText(workload)} scaled to 0; to undo: ${undo}`);
  }
}

/** Pods that are made again find their Subnet closed: it takes no new address from now on. Where admission forbids that, it is the leaves first. */
async function closeSubnets(run: CascadeRun, asked: Set<string>): Promise<void> {
  for (const step of run.cascade.steps.filter(({ resource }) => resource === 'subnets')) {
    try {
      await ask(run, [step], asked);
    } catch (error) {
      if (!isKubeError(error, 'KUBE_FORBIDDEN') && !isKubeError(error, 'KUBE_INVALID') && !isKubeError(error, 'KUBE_BAD_REQUEST'))
        throw error;
      asked.delete(step.uid ?? '');
      run.io.say(`Subnet ${step.name} stays open for now: ${error.message}`);
    }
  }
}

/** Each is asked for once, under the uid that was shown. */
async function ask({ io }: CascadeRun, steps: readonly TreeObject[], asked: Set<string>): Promise<void> {
  const due = steps.filter(({ uid }) => uid !== undefined && !asked.has(uid));
  for (let at = 0; at < due.length; at += AT_ONCE) {
    await Promise.all(
      due.slice(at, at + AT_ONCE).map(async (step) => {
        asked.add(step.uid ?? '');
        const { resource, namespace, name, uid } = step;
        try {
          await io.client.delete(traitsOf(resource), namespace === '' ? { name } : { name, namespace }, { uid });
        } catch (error) {
          // Gone already, or another one of its name: either way the one that was shown is no more.
          if (!isKubeError(error, 'KUBE_NOT_FOUND') && !isKubeError(error, 'KUBE_PRECONDITION')) throw error;
        }
      }),
    );
  }
}

/** Nothing of what is left can go before something that was not shown. */
function refuseStrangers({ observation: { world }, again }: CascadeRun, left: readonly TreeObject[]): void {
  const known = new Set(left.map((step) => `${step.kind} ${keyOf({ metadata: step })}`));
  const strangers = new Set<string>();
  for (const step of left) {
    const { names } = blockersOf(world, step.resource, keyOf({ metadata: step }));
    if (names.some((name) => known.has(name))) return;
    for (const name of names) strangers.add(name);
  }
  if (strangers.size === 0) return;
  throw new CommandFailure(
    EXIT.findings,
    `${left.length} of the objects are still there`,
    `they are held by what came in between and was not shown: ${[...strangers].slice(0, 10).join(', ')}`,
    again,
  );
}

function timedOut({ again, observation: { world } }: CascadeRun, left: readonly TreeObject[]): CommandFailure {
  const foreign = (step: TreeObject): string => {
    const finalizers = world.tables[step.resource]?.peek(keyOf({ metadata: step }))?.metadata.finalizers ?? [];
    const others = finalizers.filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
    return others.length === 0 ? '' : ` (finalizer ${others.join(', ')})`;
  };
  const texts = left.slice(0, 10).map((step) => `${textOf(step)}${foreign(step)}`);
  const more = left.length > texts.length ? ` and ${left.length - texts.length} more` : '';
  return new CommandFailure(
    EXIT.timeout,
    `${left.length} of the objects are still there`,
    `not gone in time: ${texts.join(', ')}${more}`,
    `kiln status; then ${again}`,
  );
}

function textOf({ resource, namespace, name }: TreeObject): string {
  return `${typeText(resource)}/${namespace === '' ? '' : `${namespace}/`}${name}`;
}
