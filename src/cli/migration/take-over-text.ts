/** A planned take-over as lines for a person. */
import { planGroupTable } from '../../explain/plan-groups.ts';
import type { Matter, TakeOver } from './take-over.ts';

export function takeOverLines(plan: TakeOver, format: 'table' | 'wide'): readonly string[] {
  const { stops, notes, changes, kept, neighbours } = plan;
  const drift = [...changes.rows, ...changes.objects];
  return [
    ...section(`would stop, or follow no change any more  (${stops.length})`, stops, format),
    ...section(`to know  (${notes.length})`, notes, format),
    'what the take-over writes',
    `  ${changes.adopted} rows get ownership keys, and nothing else; ${changes.bookkeeping} objects conditions and Kiln's finalizer`,
    ...(drift.length === 0 ? ['  nothing else'] : planGroupTable(drift).map((line) => `  ${line}`)),
    '',
    'what stays as it is',
    `  ${kept.served} rows that Kube-OVN made for objects whose kind or field is not implemented, until these are deleted`,
    `  ${kept.unserved} rows of objects that do not exist: kiln diff lists them`,
    ...(neighbours.length === 0 ? [] : ['', 'neighbours in the database']),
    ...neighbours.map(
      ({ name, rows, touches }) =>
        `  ${name}  ${rows} ${rows === 1 ? 'row' : 'rows'}${touches.length === 0 ? '' : `, ${touches.length} touch Kube-OVN's: kiln neighbours`}`,
    ),
  ];
}

/** Names of a group in the table; `-o wide` has all. */
const NAMED = 4;

function section(title: string, matters: readonly Matter[], format: 'table' | 'wide'): readonly string[] {
  if (matters.length === 0) return [];
  if (format === 'wide')
    return [
      title,
      ...matters.flatMap((one) => [`  ${one.kind} ${one.name}: ${textOf([one])}`, ...(one.next === '' ? [] : [`    ${one.next}`])]),
      '',
    ];
  const groups = [...Map.groupBy(matters, ({ what, kind, message }) => `${what} ${kind} ${message}`).values()];
  return [
    title,
    ...groups.map((group) => {
      const named = group.slice(0, NAMED).map(({ name }) => name);
      const more = group.length > NAMED ? ` and ${group.length - NAMED} more` : '';
      return `  ${group[0]?.kind ?? ''} ${named.join(', ')}${more}: ${textOf(group)}`;
    }),
    '',
  ];
}

/** Of matters with one message. */
function textOf(group: readonly Matter[]): string {
  const rows = group.reduce((sum, { keptRows }) => sum + keptRows, 0);
  const message = group[0]?.message ?? '';
  return rows === 0 ? message : `${message}. ${rows} ${rows === 1 ? 'row' : 'rows'} of Kube-OVN for it stay in effect until it is deleted`;
}
