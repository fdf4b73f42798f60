/**
 * The order of a repair: of the writes that are due, those that make something safe come first, and what only reports comes last. The plan
 * in memory and the run choose their steps with the same function.
 */
import { textOf } from '../../commit/object-writer.ts';
import type { Edit } from '../../diff/edits.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import type { PlannedChanges } from '../../explain/plan-text.ts';

export type RowWrite = PlannedChanges['rows'][number];

/** In this order. */
export const STEPS = [
  // An address that is in use is held before anything else can take it.
  'create objects',
  'make and change rows',
  'change objects',
  'delete rows',
  'delete objects',
  // Only once its rows are gone: with the last finalizer its address is free.
  'take finalizers off',
  // They count what the steps before have left.
  'write statuses',
] as const;
export type StepKind = (typeof STEPS)[number];

export interface RepairStep extends PlannedChanges {
  readonly kind: StepKind;
}

/** Writes of one step. All rows of a step are one transaction; objects are written one after the other. */
const MOST = 1_000;

/** The first step of what is due; undefined: nothing is. */
export function nextStep({ rows, objects }: PlannedChanges): RepairStep | undefined {
  for (const kind of STEPS) {
    const step: RepairStep = {
      kind,
      rows: rows.filter((row) => kindOfRow(row) === kind).slice(0, MOST),
      objects: objects
        .filter((write) => kindOfObject(write) === kind)
        .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
        .slice(0, MOST),
    };
    if (step.rows.length + step.objects.length > 0) return step;
  }
  return undefined;
}

function nameOf({ resource, namespace, name }: ObjectWrite): string {
  return `${resource} ${namespace} ${name}`;
}

function kindOfRow({ verdict }: RowWrite): StepKind | undefined {
  if (verdict.kind !== 'change') return undefined;
  return verdict.change === 'delete' ? 'delete rows' : 'make and change rows';
}

/** A repair evicts no pod. */
function kindOfObject(write: ObjectWrite): StepKind | undefined {
  switch (write.verb) {
    case 'create':
      return 'create objects';
    case 'delete':
      return 'delete objects';
    case 'evict':
      return undefined;
    default:
      if (write.subresource === 'status') return 'write statuses';
      return isLetGo(write) ? 'take finalizers off' : 'change objects';
  }
}

function isLetGo({ patch }: Extract<ObjectWrite, { readonly verb: 'patch' }>): boolean {
  const { finalizers } = (patch['metadata'] ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers?.length === 0;
}

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const GUARDS: ReadonlySet<Edit['kind']> = new Set(['exists', 'owned', 'holds']);

/**
 * What a step does, to compare what was shown with what is due: each write without its time and its guards.
 * @param aliases names instead of the uids of objects that the repair itself has made
 */
export function stepTexts({ rows, objects }: PlannedChanges, aliases: ReadonlyMap<string, string>): readonly string[] {
  const texts = [
    ...rows.map(({ id, verdict }) =>
      verdict.kind === 'change'
        ? shown({ id, change: verdict.change, edits: verdict.edits.filter(({ kind }) => !GUARDS.has(kind)) })
        : shown({ id, verdict }),
    ),
    ...objects.map(textOf),
  ].map((text) => text.replaceAll(TIME, 'TIME'));
  return texts.map((text) => [...aliases].reduce((so, [uid, name]) => so.replaceAll(uid, name), text)).toSorted();
}

function shown(value: unknown): string {
  const plain = (_key: string, part: unknown): unknown => {
    if (typeof part === 'bigint') return String(part);
    if (part instanceof Map) return Object.fromEntries([...part].toSorted(byText));
    return part instanceof Set ? [...part].toSorted(byText) : part;
  };
  return JSON.stringify(value, plain) ?? '';
}

function byText(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : 1;
}
