/** `kiln gc plan`: the rows of Kiln that nothing explains, which the controller would collect. It only reads. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { resourceOfOwner } from '../../controller/reading/row-owners.ts';
import type { Collected } from '../../explain/collection-plan.ts';
import { collectionPlan } from '../../explain/collection-plan.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags, northboundOf } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { openedFresh } from './diff.ts';

export interface GcFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | 'name' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln gc plan --ovn-nb tcp:10.0.0.1:6641       each row of Kiln that nothing asks for, and why
  kiln gc plan -o wide                          with the rule that made it, its UUID, and what is in it
  kiln gc plan -o json | jq '.rows[] | select(.fate == "collect")'
`;

const EXIT_CODES = `
Exit codes: 0 nothing to collect, 1 there are such rows, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 4 timed out.
A controller that leads collects the rows of fate "collect" at once, unless they are too many: docs/operate.md.
`;

export function addGc(program: Command): void {
  const gc = program.command('gc').description('the collection of rows that no object asks for');
  const plan = gc
    .command('plan')
    .description('print the rows of Kiln that no object asks for, why, who made them, and what goes with them; reads only')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'wide', 'name', ...STRUCTURED_FORMATS]).default('table'),
    );
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(plan))).action(async (flags: GcFlags) => {
    process.exitCode = await onCluster('gc plan', flags, (io) => runGcPlan(flags, io));
  });
}

/** @returns the exit code */
export async function runGcPlan(flags: GcFlags, io: CommandIo): Promise<number> {
  const ovnNb = northboundOf(flags);
  if (ovnNb === undefined)
    throw new CommandFailure(
      EXIT.usage,
      'kiln gc plan needs the Northbound database',
      'neither --ovn-nb nor KILN_OVN_NB is set',
      'kiln gc plan --ovn-nb tcp:HOST:6641',
    );
  await io.client.version();
  await using fresh = await openedFresh('gc plan', flags, ovnNb, io);
  const { world, desired } = fresh;
  const rows = collectionPlan(world, desired.rows, (owner) => {
    const object = resourceOfOwner(owner);
    return object !== undefined && world.tables[object.resource]?.peek(object.key) !== undefined;
  });
  if (flags.output === 'json' || flags.output === 'yaml') io.out(structuredText(flags.output, 'CollectionPlan', { rows }));
  else if (flags.output === 'name') io.out(rows.map(({ table, name }) => `${table} ${name}`));
  else if (rows.length > 0) io.out(planLines(rows, flags.output));
  if (rows.length === 0) io.say('nothing to collect: every row of Kiln has an object that asks for it');
  if (rows.some(({ fate }) => fate === 'held')) io.say('hint: kiln undo … --let-go ends the hold of restored rows');
  return rows.length === 0 ? EXIT.fine : EXIT.findings;
}

const SHOWN = 100;

function planLines(rows: readonly Collected[], format: 'table' | 'wide'): readonly string[] {
  const shown = format === 'wide' ? rows : rows.slice(0, SHOWN);
  return [
    ...shown.flatMap((one) => linesOf(one, format)),
    ...(rows.length > shown.length ? [`… and ${rows.length - shown.length} more: kiln gc plan -o wide`] : []),
  ];
}

function linesOf({ fate, table, name, uuid, uid, rule, why, within }: Collected, format: 'table' | 'wide'): readonly string[] {
  const inside = Object.entries(within).map(([of, count]) => `${of} ${count}`);
  const line = `${fate.padEnd(7)}  ${table} ${name}: ${why}`;
  if (format === 'table') return [line];
  return [line, `         row ${uuid}, made by rule ${rule} for uid ${uid}${inside.length === 0 ? '' : `; in it: ${inside.join(' · ')}`}`];
}
