/** `kiln config`: every setting, its value and its source. */
import { stringify } from 'yaml';
import { withoutSecrets } from '../../text/known-secrets.ts';
import type { Configured, Source } from '../settings/configuration.ts';
import type { StartFlags } from '../settings/start-flags.ts';

export const CONFIG_FORMATS = ['table', 'yaml', 'json'] as const;
export type ConfigFormat = (typeof CONFIG_FORMATS)[number];

interface Printed {
  readonly name: string;
  readonly value: string | number | boolean | undefined;
  readonly source: Source;
  readonly flag: string;
  readonly variable: string;
}

/** @returns the exit code */
export function config(
  flags: StartFlags & { readonly output?: ConfigFormat },
  settings: readonly Configured[],
  out: (text: string) => void,
): number {
  const printed = settings.map(({ key, text, source, flag, variable, option }): Printed => ({
    name: key,
    value: valueOf(text, flags[key as keyof StartFlags] ?? (option.isBoolean() ? text === 'true' : undefined)),
    source,
    flag,
    variable,
  }));
  switch (flags.output) {
    case 'json':
      out(`${JSON.stringify({ apiVersion: 'kiln.io/v1', kind: 'Configuration', settings: printed }, undefined, 2)}\n`);
      return 0;
    case 'yaml':
      out(printed.map(yamlLine).join(''));
      return 0;
    default:
      out(tableText(printed));
      return 0;
  }
}

/** The text as written; numbers and booleans in their own type. */
function valueOf(text: string | undefined, value: unknown): Printed['value'] {
  if (text === undefined) return undefined;
  if (typeof value === 'boolean' || (typeof value === 'number' && String(value) === text)) return value;
  return withoutSecrets(text);
}

/** A line of a file for `--config`: settings without a value are comments. */
function yamlLine({ name, value, source }: Printed): string {
  if (value === undefined) return `# ${name}:\n`;
  return `${stringify({ [name]: value }).trimEnd()} # ${source}\n`;
}

function tableText(printed: readonly Printed[]): string {
  const rows = [
    ['SETTING', 'VALUE', 'SOURCE', 'VARIABLE'],
    ...printed.map(({ name, value, source, variable }) => [name, value === undefined ? '<none>' : String(value), source, variable]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
