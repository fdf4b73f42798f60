/**
 * Trees like those of kubectl-tree: `├─ └─ │`, with columns.
 */
import { visible } from '../text/visible-text.ts';
import type { OwnedRow, OwnedRows } from './owned-rows.ts';
import type { DrawnObject } from './dependents.ts';
import type { Explanation } from './explanation.ts';
import { ageText } from './age.ts';

/** One line of a tree, not yet formatted. */
export interface TreeLine {
  readonly text: string;
  readonly ready: string;
  readonly reason: string;
  readonly age: string;
  readonly children: readonly TreeLine[];
}

/** Colours and bold type for a terminal; otherwise plain text. */
export type Paint = (style: 'ready' | 'notReady' | 'dim', text: string) => string;

export const PLAIN: Paint = (_style, text) => text;

/** A line whose control characters were made visible, apart from its colours. */
export interface PaintedLine {
  readonly painted: string;
}

/** Kinds that have their addresses through IP objects. */
const BY_IP: ReadonlySet<string> = new Set(['pod', 'node', 'virtualmachine', 'virtualmachineinstance']);

const HEADER = ['NAME', 'READY', 'REASON', 'AGE'] as const;

/** @param now milliseconds since the epoch */
export function explanationLine(explanation: Explanation, now: number): TreeLine {
  const { subject, dependencies, dependents, owners, created, rows } = explanation;
  const groups: TreeLine[] = [];
  const group = (text: string, { objects, more }: { readonly objects: readonly DrawnObject[]; readonly more: number }): void => {
    if (objects.length > 0) groups.push(heading(text, [...objects.map((one) => objectLine(one, now)), ...hidden(more)]));
  };
  group('depends on', dependencies);
  const blockers = dependents.objects.filter(({ blocks }) => blocks);
  group('used by (blocks deletion)', { objects: blockers, more: dependents.more });
  group('used by', { objects: dependents.objects.filter(({ blocks }) => !blocks), more: blockers.length === 0 ? dependents.more : 0 });
  group('creates', created);
  if (owners.length > 0)
    groups.push(
      heading(
        'created by',
        owners.map(({ kind, name }) => heading(`${kind}/${name}`, [])),
      ),
    );
  if (rows !== undefined && rows.count > 0) groups.push(heading(`Northbound rows (${rows.count})`, rowLines(rows)));
  return { ...objectLine({ ...subject, children: [], more: 0 }, now), children: groups };
}

/** @param all the command that shows the omitted children */
export function objectLine(object: DrawnObject, now: number, all = '--all'): TreeLine {
  const { kind, namespace, name, state, created } = object;
  const named = `${kind}/${namespace === '' ? '' : `${namespace}/`}${name}`;
  // The line of the IP object, above or below it, has the same addresses.
  const addresses = BY_IP.has(object.type) ? [] : object.addresses;
  return {
    text: addresses.length === 0 ? named : `${named}  ${addresses.join(',')}`,
    ready: state.ready,
    reason: state.reason === '' ? '-' : state.reason,
    age: created === undefined ? '-' : ageText(now - Date.parse(created)),
    children: [...object.children.map((child) => objectLine(child, now, all)), ...hidden(object.more, all)],
  };
}

function rowLines({ count, rows }: OwnedRows): TreeLine[] {
  const text = ({ table, name, ofPredecessor }: OwnedRow): string =>
    `${table} ${name}${ofPredecessor ? '  (of an earlier object of this name)' : ''}`;
  return [...rows.map((row) => ({ ...heading(text(row), []), reason: row.rule })), ...hidden(count - rows.length)];
}

function heading(text: string, children: readonly TreeLine[]): TreeLine {
  return { text, ready: '', reason: '', age: '', children };
}

function hidden(more: number, all = '--all'): TreeLine[] {
  return more > 0 ? [heading(`… and ${more} more (${all} shows them)`, [])] : [];
}

export function treeLines(root: TreeLine, paint: Paint = PLAIN): readonly PaintedLine[] {
  const lines = [{ drawn: HEADER[0] as string, cells: HEADER.slice(1) as readonly string[] }, ...drawnLines(root, '', '')];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map(({ cells }) => (cells[at] ?? '').length)));
  const first = Math.max(...lines.map(({ drawn, cells }) => (cells.some((cell) => cell !== '') ? drawn.length : 0)));
  return lines.map(({ drawn, cells }, index) => {
    const [ready = '', ...rest] = cells.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    const shown =
      index === 0 ? ready : ready.startsWith('True') ? paint('ready', ready) : ready.startsWith('False') ? paint('notReady', ready) : ready;
    return { painted: cells.every((cell) => cell === '') ? drawn : [drawn.padEnd(first), shown, ...rest].join('  ').trimEnd() };
  });
}

interface Drawn {
  readonly drawn: string;
  readonly cells: readonly string[];
}

function drawnLines({ text, ready, reason, age, children }: TreeLine, lead: string, below: string): Drawn[] {
  return [
    { drawn: `${lead}${visible(text)}`, cells: [ready, reason, age].map(visible) },
    ...children.flatMap((child, index) => {
      const last = index === children.length - 1;
      return drawnLines(child, `${below}${last ? '└─ ' : '├─ '}`, `${below}${last ? '   ' : '│  '}`);
    }),
  ];
}
