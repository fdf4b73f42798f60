/** `kiln gc plan`: the rows of Kiln that nothing explains, and what becomes of each. It only reads. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { ageText } from '../../explain/age.ts';
import type { Collected } from '../../explain/collection-plan.ts';
import { planOf } from '../cluster/collection.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { readFresh } from './diff.ts';

export interface GcPlanFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | 'name' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln gc plan                                  each row of Kiln that nothing asks for, since when, and why
  kiln gc plan -o wide                          all of them, with the rule that made each and its UUID
  kiln gc plan -o json | jq '.rows[] | select(.fate == "collect")'
`;

const EXIT_CODES = `
Exit codes: 0 nothing to collect, 1 there are such rows, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 4 timed out.
A controller that leads collects the rows of fate "collect" at once. The others stay: "held" and "paused" until kiln gc approve and kiln gc
resume, "grace" until its end or kiln gc run, "report" by a setting, "restored" until kiln undo --let-go, "blocked" while a foreign row is in it.
`;

export function addGcPlan(gc: Command): void {
  const plan = gc
    .command('plan')
    .description(
      'print the rows of Kiln that no object asks for, and objects and keys left in Kubernetes: why, since when, their maker, and what goes with them; reads only',
    )
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'wide', 'name', ...STRUCTURED_FORMATS]).default('table'),
    );
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(plan))).action(async (flags: GcPlanFlags) => {
    process.exitCode = await onCluster('gc plan', flags, (io) => runGcPlan(flags, io));
  });
}

/** @returns the exit code */
export async function runGcPlan(flags: GcPlanFlags, io: CommandIo): Promise<number> {
  await using fresh = await readFresh('gc plan', flags, io);
  const all = planOf(fresh);
  // A setting says that these are not to be told.
  const rows = flags.output === 'table' ? all.filter(({ fate }) => fate !== 'off') : all;
  const hidden = all.length - rows.length;
  if (flags.output === 'json' || flags.output === 'yaml') io.out(structuredText(flags.output, 'CollectionPlan', { rows }));
  else if (flags.output === 'name') io.out(rows.map(({ table, name }) => `${table} ${name}`));
  else if (rows.length > 0) io.out(planTable(rows, flags.output, Date.now()));
  if (rows.length === 0) io.say('nothing to collect: every row of Kiln has an object that asks for it');
  if (hidden > 0) io.say(`${hidden} more are off by a setting: kiln gc plan -o wide`);
  for (const [fate, hint] of Object.entries(HINTS)) if (rows.some((row) => row.fate === fate)) io.say(hint);
  return all.every(({ fate }) => fate === 'off') ? EXIT.fine : EXIT.findings;
}

const HINTS: Readonly<Partial<Record<Collected['fate'], string>>> = {
  held: 'hint: kiln gc approve lets the controller collect the held rows',
  paused: 'hint: kiln gc resume ends the pause',
  grace: 'hint: kiln gc run collects rows in their grace now',
  restored: 'hint: kiln undo … --let-go ends the hold of restored rows',
};

const SHOWN = 100;
const HEADERS = ['FATE', 'SINCE', 'ROW', 'MADE BY', 'WITH IT', 'WHY'];
const WIDE_HEADERS = ['FATE', 'SINCE', 'ROW', 'UUID', 'MADE BY', 'RULE', 'FOR UID', 'WITH IT', 'WHY'];

/** The last column is as long as it has to be. */
export function planTable(rows: readonly Collected[], format: 'table' | 'wide', now: number): readonly string[] {
  const shown = format === 'wide' ? rows : rows.slice(0, SHOWN);
  const lines = [format === 'wide' ? WIDE_HEADERS : HEADERS, ...shown.map((row) => cellsOf(row, format, now))];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0))) ?? [];
  return [
    ...lines.map((cells) => cells.map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  ')),
    ...(rows.length > shown.length ? [`… and ${rows.length - shown.length} more: kiln gc plan -o wide`] : []),
  ];
}

function cellsOf(
  { fate, what, table, name, uuid, owner, uid, rule, why, since, madeBy, within }: Collected,
  format: string,
  now: number,
): string[] {
  const inside = Object.entries(within).map(([of, count]) => `${of} ${count}`);
  const age = since === null ? (what === 'row' ? 'now' : 'unknown') : format === 'wide' ? since : ageText(now - Date.parse(since));
  const maker = `${madeBy} for ${owner.replace('//', '/')}`;
  const withIt = inside.length === 0 ? '-' : inside.join(', ');
  const row = `${table} ${name}`;
  return format === 'wide'
    ? [fate, age, row, uuid, maker, rule === '' ? '-' : rule, uid, withIt, why]
    : [fate, age, row, maker, withIt, why];
}
