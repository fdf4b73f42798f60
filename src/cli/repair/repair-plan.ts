/**
 * What a repair would do, all steps to the end: it is done in memory first. What follows from a repair belongs to it (the finalizer of an
 * IP object that goes, the counts of its Subnet); what is due anyway does not.
 */
import type { ObjectId } from '../../compile/output.ts';
import { objectId } from '../../compile/output.ts';
import type { PlannedChanges } from '../../explain/plan-text.ts';
import type { RowId } from '../../nb/row-id.ts';
import type { Preview } from '../../preview/preview.ts';
import { keyOf } from '../../world/resources.ts';
import type { WriteTarget } from '../audit/audit-findings.ts';
import type { RepairStep } from './repair-steps.ts';
import { nextStep, stepTexts } from './repair-steps.ts';
import { stepLines } from './repair-text.ts';

export interface PlannedStep extends RepairStep {
  /** What is done, for the comparison before it is done. */
  readonly texts: readonly string[];
  /** The same in words, a line for each write. */
  readonly lines: readonly string[];
}

export interface RepairPlan {
  readonly steps: readonly PlannedStep[];
  /** Everything that a step writes. */
  readonly rows: ReadonlySet<RowId>;
  readonly objects: ReadonlySet<ObjectId>;
}

/** Repairs take about ten; more are a fault. */
const MOST_STEPS = 1_000;

/** @param targets rows and objects of the findings @throws Error if the steps do not come to an end */
export function repairPlan(preview: Preview, targets: readonly WriteTarget[]): RepairPlan {
  const all = preview.plan({ row: () => true, object: () => true });
  const chosenRows = new Set(targets.flatMap((one) => (one.kind === 'row' ? [one.id] : [])));
  const chosenObjects = new Set(targets.flatMap((one) => (one.kind === 'object' ? [one.id] : [])));
  const dueRows = new Set(all.rows.map(({ id }) => id));
  const dueObjects = new Set(all.objects.map(idOf));
  const part = {
    row: (id: RowId) => chosenRows.has(id) || !dueRows.has(id),
    object: (id: ObjectId) => chosenObjects.has(id) || !dueObjects.has(id),
  };
  const steps: PlannedStep[] = [];
  const aliases = new Map<string, string>();
  for (let step = nextStep(preview.plan(part)); step !== undefined; step = nextStep(preview.plan(part))) {
    const texts = stepTexts(step, aliases);
    if (steps.length >= MOST_STEPS || steps.some((one) => one.texts.join('\n') === texts.join('\n')))
      throw new Error(`the repair does not come to an end: ${texts[0]?.slice(0, 300) ?? ''} is due again`);
    steps.push({ ...step, texts, lines: stepLines(step, preview.world) });
    preview.carryOut(step);
    for (const write of step.objects) {
      if (write.verb !== 'create') continue;
      const uid = preview.api.get(write.resource, keyOf({ metadata: write }))?.metadata.uid;
      if (uid !== undefined) aliases.set(uid, aliasOf(write));
    }
  }
  return {
    steps,
    rows: new Set(steps.flatMap(({ rows }) => rows.map(({ id }) => id))),
    objects: new Set(steps.flatMap(({ objects }) => objects.map(idOf))),
  };
}

/** The name for the uid of an object that the repair makes. */
export function aliasOf(write: PlannedChanges['objects'][number]): string {
  return `uid of ${idOf(write)}`;
}

function idOf(write: PlannedChanges['objects'][number]): ObjectId {
  return objectId(write.resource, keyOf({ metadata: write }));
}
