/**
 * The controller's plan by kind of change: what is done to which kind, in which fields, how often. A take-over of thousands of rows is a
 * few lines, and a row that gets more than ownership keys has its own.
 */
import type { Edit, Verdict } from '../diff/edits.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import { OWNER_KEY, VENDOR_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { traitsOf } from '../world/resources.ts';
import type { PlannedChanges } from './plan-text.ts';

export interface PlanGroup {
  /** `adopt`: a row of Kube-OVN gets ownership keys, and the fields named beside it change. */
  readonly change: string;
  /** A table of the Northbound database, or a kind of object. */
  readonly kind: string;
  /** Fields that change, besides ownership keys; empty for whole rows and objects. */
  readonly fields: readonly string[];
  readonly names: readonly string[];
}

/** Rows first, in the order of the plan. */
export function planGroups({ rows, objects }: PlannedChanges): readonly PlanGroup[] {
  const groups = new Map<string, PlanGroup & { readonly names: string[] }>();
  const put = (change: string, kind: string, fields: readonly string[], name: string): void => {
    const key = JSON.stringify([change, kind, fields]);
    const group = groups.get(key) ?? { change, kind, fields, names: [] };
    group.names.push(name);
    groups.set(key, group);
  };
  for (const { id, verdict } of rows) {
    const [change, fields] = rowChange(id, verdict);
    put(change, tableOf(id), fields, identityOf(id));
  }
  for (const write of objects)
    put(
      write.verb,
      traitsOf(write.resource).kind,
      patchedFields(write),
      `${write.namespace === '' ? '' : `${write.namespace}/`}${write.name}`,
    );
  return [...groups.values()];
}

const HEADER = ['CHANGE', 'KIND', 'COUNT', 'FIELDS', 'NAMES'];
/** `--details` and `-o json` have the rest. */
const MOST_NAMES = 3;
const MOST_FIELDS = 4;

/** A table with one line for each group. */
export function planGroupLines(plan: PlannedChanges): string[] {
  return planGroupTable(planGroups(plan));
}

export function planGroupTable(groups: readonly PlanGroup[]): string[] {
  const cells = groups.map(({ change, kind, fields, names }) => {
    const named = names.map((name) => (name === '' ? '-' : name));
    return [change, kind, String(names.length), listed(fields, MOST_FIELDS) || '-', listed(named, MOST_NAMES)];
  });
  const table = [HEADER, ...cells];
  const widths = HEADER.map((_, at) => table.reduce((widest, line) => Math.max(widest, line[at]?.length ?? 0), 0));
  return table.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function listed(all: readonly string[], most: number): string {
  return `${all.slice(0, most).join(', ')}${all.length > most ? ` and ${all.length - most} more` : ''}`;
}

function rowChange(id: RowId, verdict: Verdict): readonly [change: string, fields: readonly string[]] {
  if (verdict.kind === 'waiting') return ['later', verdict.on.map((one) => `waits for ${one.split(/[ /]/)[0] ?? one}`).slice(0, 1)];
  if (verdict.kind !== 'change') return [verdict.kind, []];
  if (verdict.change !== 'update') return [verdict.change, []];
  // A child that gets the vendor key is no change of this row, and not one of its own.
  const fields = new Set(verdict.edits.flatMap((edit) => editedFields(edit)));
  const adopts = verdict.edits.some((edit) => edit.kind === 'keys' && edit.set[OWNER_KEY] !== undefined);
  return [adopts ? 'adopt' : 'update', [...fields].toSorted()];
}

function editedFields(edit: Edit): readonly string[] {
  switch (edit.kind) {
    case 'update':
      return Object.keys(edit.row);
    case 'member':
      return [edit.column];
    case 'keys':
      return [...Object.keys(edit.set), ...edit.remove].filter((key) => !isOwnership(key)).map((key) => `${edit.column}:${key}`);
    case 'pairs':
      return Object.keys({ ...edit.set, ...edit.remove })
        .filter((key) => !isOwnership(key))
        .map((key) => `${edit.column}:${key}`);
    case 'insert':
    case 'delete':
      return [`${edit.kind} of a duplicate`];
    default:
      return [];
  }
}

function isOwnership(key: string): boolean {
  return key.startsWith('kiln.io/') || key === VENDOR_KEY;
}

/** Paths of two levels, such as `spec.gateway`. */
function patchedFields(write: ObjectWrite): readonly string[] {
  if (write.verb !== 'patch') return [];
  return Object.entries(write.patch)
    .flatMap(([part, inside]) => Object.keys(inside ?? {}).map((field) => `${part}.${field}`))
    .filter((path) => path !== 'metadata.uid' && path !== 'metadata.resourceVersion')
    .toSorted();
}
