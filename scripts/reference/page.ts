/** The reference page: flags, error codes, Northbound tables and unserved kinds, as the code has them. */
import { program } from '../../src/cli/program.ts';
import { UNSERVED_KINDS } from '../../src/controller/unserved-kinds.ts';
import { kubeErrorCodes } from '../../src/kube/errors.ts';
import { TABLES } from '../../src/nb/tables.ts';
import { errorCodes } from '../../src/ovsdb/index.ts';
import { METRICS } from '../../src/runtime/metrics.ts';
import { traitsOf } from '../../src/world/resources.ts';

export function referencePage(): string {
  return `${[
    '# Reference',
    'Generated from the code: `npm run --silent reference > docs/reference.md`. A test keeps it equal.',
    ...commands(),
    '## Error codes of the OVSDB client',
    table(
      ['code', 'meaning'],
      Object.entries(errorCodes).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    '## Error codes of the Kubernetes client',
    table(
      ['code', 'meaning'],
      Object.entries(kubeErrorCodes).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    '## Metrics',
    'Served at `/metrics` (`--metrics-bind-address`), beside the `process_*` and `nodejs_*` metrics of every Node.js process.',
    table(
      ['metric', 'kind', 'labels', 'meaning'],
      Object.entries(METRICS).map(([name, { kind, labels, help }]) => [`\`${name}\``, kind, labels.join(', '), help]),
    ),
    '## Northbound tables and columns that Kiln writes',
    'How a column of an owned row is kept: `value` as a whole; `elements` an exact set, member by member; `refs` only references to own rows; `map` exactly, but for keys with a colon; named keys only those.',
    table(
      ['table', 'columns'],
      TABLES.map(({ table: name, columns }) => [
        name,
        Object.entries(columns)
          .map(([column, mode]) => `${column} (${typeof mode === 'string' ? mode : mode.join(', ')})`)
          .join('; '),
      ]),
    ),
    '## Kinds that are not carried out yet',
    'Each object of these kinds gets an Event with reason `NotCarriedOut`.',
    table(
      ['kind', 'resource'],
      UNSERVED_KINDS.map(({ resource }) => [
        traitsOf(resource).kind,
        `${traitsOf(resource).plural}${traitsOf(resource).group === '' ? '' : `.${traitsOf(resource).group}`}`,
      ]),
    ),
  ].join('\n\n')}\n`;
}

function commands(): string[] {
  return program.commands.flatMap((command) => [
    `## kiln ${command.name()}`,
    command.description(),
    table(
      ['flag', 'meaning', 'default'],
      command.options.map((option) => [
        `\`${option.flags}\``,
        option.description,
        defaultText(option.defaultValueDescription ?? option.defaultValue),
      ]),
    ),
  ]);
}

function defaultText(value: unknown): string {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return '';
  return `\`${String(value)}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
