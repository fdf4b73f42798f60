/** `kiln neighbours`: the rows of other programs in the Northbound database, and what they touch of Kiln's. It only reads. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { Neighbour, Neighbourhood } from '../../explain/neighbours.ts';
import { neighbourhood } from '../../explain/neighbours.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { EXIT } from '../errors/command-failure.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags } from '../cluster/observe.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { readFresh } from './diff.ts';

export interface NeighboursFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | 'name' | StructuredFormat;
}

const EXAMPLES = `
Examples:
  kiln neighbours                                   who is in the database, with how many rows of which tables
  kiln neighbours -o wide                           and each row that touches one of Kiln
  kiln neighbours -o json | jq '.neighbours[].touches[]'
  kiln neighbours --neighbours '[{"name":"octavia","externalIds":"^octavia:"}]'      try a pattern before it is configured
`;

const EXIT_CODES = `
Exit codes: 0 printed, 1 a neighbour has a name that an object needs, or a pattern matches rows of Kiln, 2 wrong usage, 3 cluster or database
unreachable, or forbidden, 4 timed out.
`;

/** Displayed touches of each neighbour; the others are counted. */
const SHOWN = 5;

export function addNeighbours(program: Command): void {
  const command = program
    .command('neighbours')
    .description("print the rows of other programs in the Northbound database by program and table, and what they touch of Kiln's")
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(
      new Option('-o, --output <format>', `output format; table: ${SHOWN} touches of each, wide: all of them`)
        .choices(['table', 'wide', 'name', ...STRUCTURED_FORMATS])
        .default('table'),
    );
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: NeighboursFlags) => {
    process.exitCode = await onCluster('neighbours', flags, (io) => runNeighbours(flags, io));
  });
}

/** @returns the exit code */
export async function runNeighbours(flags: NeighboursFlags, io: CommandIo): Promise<number> {
  await using fresh = await readFresh('neighbours', flags, io);
  const wanted = fresh.conflicts().flatMap(({ id, verdict }) => (verdict.kind === 'conflict' ? [{ id, message: verdict.message }] : []));
  const around = neighbourhood(fresh.world, wanted);
  if (flags.output === 'json' || flags.output === 'yaml') io.out(structuredText(flags.output, 'Neighbours', around));
  else if (flags.output === 'name') io.out(around.neighbours.map(({ name }) => name));
  else io.out(neighbourLines(around, flags.output));
  if (around.neighbours.length === 0) io.say('no other program has a row in the tables that Kiln reads');
  for (const { name, rows, first } of around.tooWide)
    io.say(`warning: pattern ${name} matches ${rows} rows of Kiln, such as ${first}; it has no effect on these. Make it narrower`);
  const isWanted = around.neighbours.some(({ touches }) => touches.some(({ how }) => how === 'name'));
  return isWanted || around.tooWide.length > 0 ? EXIT.findings : EXIT.fine;
}

function neighbourLines({ neighbours }: Neighbourhood, format: 'table' | 'wide'): readonly string[] {
  const width = Math.max(9, ...neighbours.map(({ name }) => name.length));
  if (neighbours.length === 0) return [];
  return [`${'NEIGHBOUR'.padEnd(width)}  ${'ROWS'.padStart(7)}  TABLES`, ...neighbours.flatMap((one) => linesOf(one, width, format))];
}

function linesOf({ name, rows, tables, touches }: Neighbour, width: number, format: 'table' | 'wide'): readonly string[] {
  const counts = Object.entries(tables).map(([table, count]) => `${table} ${count}`);
  const shown = format === 'wide' ? touches : touches.slice(0, SHOWN);
  return [
    `${name.padEnd(width)}  ${String(rows).padStart(7)}  ${counts.join(' · ')}`,
    ...shown.map(({ message }) => `  touches  ${message}`),
    ...(touches.length > shown.length ? [`  … and ${touches.length - shown.length} more: kiln neighbours -o wide`] : []),
  ];
}
