/** The reference page: flags, error codes, Northbound tables and unimplemented kinds, as the code has them. */
import type { Command, Option } from 'commander';
import { KILN_ANNOTATIONS, OBJECT_ANNOTATIONS, POD_ANNOTATIONS } from '../../src/api/annotations.ts';
import { CONDITION_TYPES } from '../../src/api/condition-types.ts';
import { REASONS } from '../../src/api/reasons.ts';
import { annotationKey, kilnAnnotation } from '../../src/api/well-known.ts';
import { acceptedBy, defaultText, settingsOf } from '../../src/cli/settings/configuration.ts';
import { PRECEDENCE } from '../../src/cli/settings/configured.ts';
import { KUBE_ADVICE, OVSDB_ADVICE } from '../../src/cli/errors/error-advice.ts';
import { everyCommand } from '../../src/cli/arguments/every-command.ts';
import { program } from '../../src/cli/program.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
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
    '## Types of conditions',
    'A closed list. A kind whose schema has no conditions keeps them in annotation `kiln.io/conditions`.',
    table(
      ['type', 'on', 'when it is true'],
      Object.entries(CONDITION_TYPES).map(([type, { on, means }]) => [`\`${type}\``, on, means]),
    ),
    '## Reasons of conditions, Events and denials',
    'A closed list: Kiln writes no other reason.',
    table(
      ['reason', 'it means', 'what to do'],
      Object.entries(REASONS).map(([reason, { means, next }]) => [`\`${reason}\``, means, next]),
    ),
    '## Error codes of the OVSDB client',
    table(
      ['code', 'meaning', 'what to do'],
      Object.entries(errorCodes).map(([code, meaning]) => [`\`${code}\``, meaning, OVSDB_ADVICE[code as keyof typeof OVSDB_ADVICE]]),
    ),
    '## Error codes of the Kubernetes client',
    table(
      ['code', 'meaning', 'what to do'],
      Object.entries(kubeErrorCodes).map(([code, meaning]) => [`\`${code}\``, meaning, KUBE_ADVICE[code as keyof typeof KUBE_ADVICE]]),
    ),
    '## Annotations',
    'A closed list: Kiln reads and writes no other annotation. *acts*: a rule implements it; *checked*: Kiln checks its value and reports on the object, but does not implement it (a node agent may); *writes*: Kiln writes it; *-*: Kiln does not read it.',
    'Of each interface of a pod, after `<provider>.kubernetes.io/`: `ovn` for its own interface, `<name>.<namespace>.ovn` for an attached one. `ip_address` and `mac_address` of one of several interfaces in a network: `<name>.<namespace>.kubernetes.io/ip_address.<interface>`. Some of them are on Nodes (the join Subnet) and Namespaces (`logical_switch`, `cidr`, `ip_pool`) as well, with provider `ovn`.',
    table(
      ['annotation', 'Kiln', 'meaning'],
      Object.entries(POD_ANNOTATIONS).map(([suffix, { use, what }]) => [`\`${suffix}\``, use, what]),
    ),
    'Others:',
    table(
      ['annotation', 'on', 'Kiln', 'meaning'],
      [
        ...Object.entries(OBJECT_ANNOTATIONS).map(([name, { on, use, what }]) => [
          `\`${annotationKey[name as keyof typeof annotationKey]}\``,
          on,
          use,
          what,
        ]),
        ...Object.entries(KILN_ANNOTATIONS).map(([name, { on, use, what }]) => [
          `\`${kilnAnnotation[name as keyof typeof kilnAnnotation]}\``,
          on,
          use,
          what,
        ]),
      ],
    ),
    '## Metrics',
    'Served at `/metrics` (`--metrics-bind-address`), beside the `process_*` and `nodejs_*` metrics of every Node.js process.',
    table(
      ['metric', 'kind', 'labels', 'meaning'],
      Object.entries(METRICS).map(([name, { kind, labels, help }]) => [`\`${name}\``, kind, labels.join(', '), help]),
    ),
    '## Northbound tables and columns that Kiln writes',
    'How Kiln maintains a column of its rows: `value` as a whole; `elements` an exact set, member by member; `refs` only references to own rows; `map` exactly, but for keys with a colon; named keys only those.',
    table(
      ['table', 'columns'],
      TABLES.map(({ table: name, columns }) => [
        name,
        Object.entries(columns)
          .map(([column, mode]) => `${column} (${typeof mode === 'string' ? mode : mode.join(', ')})`)
          .join('; '),
      ]),
    ),
    '## Kinds that are not implemented yet',
    "Each object of these kinds has condition `Ready` `False` with reason `NotCarriedOut`, and an Event when Kiln sets it: in its status, or as JSON in annotation `kiln.io/conditions` where the schema of its kind has no conditions of the object (`kubectl get security-group NAME -o jsonpath='{.metadata.annotations.kiln\\.io/conditions}'`). A Service gets the Event alone. Where the definition of a kind has CEL rules, `Validated` reports whether the object complies with them.",
    table(
      ['kind', 'resource'],
      UNIMPLEMENTED_KINDS.map(({ resource }) => [
        traitsOf(resource).kind,
        `${traitsOf(resource).plural}${traitsOf(resource).group === '' ? '' : `.${traitsOf(resource).group}`}`,
      ]),
    ),
  ].join('\n\n')}\n`;
}

function commands(): string[] {
  return everyCommand(program).flatMap(({ name, command }) => [
    `## kiln ${name}`,
    command.description(),
    ...(CONFIGURABLE.has(name) ? settings(command) : [flags(command.options)]),
  ]);
}

/** Commands whose options can also be given in another way. */
const CONFIGURABLE: ReadonlySet<string> = new Set(['start', 'config']);

function settings(command: Command): string[] {
  const all = settingsOf(command);
  const alone = flags(command.options.filter((option) => all.every((one) => one.option !== option)));
  if (command.name() === 'config') return ['The settings of `kiln start`, and:', alone];
  return [
    alone,
    PRECEDENCE,
    table(
      ['flag', 'key in the file', 'variable', 'meaning', 'takes', 'default'],
      all.map(({ option, key, variable }) => [
        `\`${option.flags}\``,
        `\`${key}\``,
        `\`${variable}\``,
        option.description,
        acceptedBy(option),
        quoted(option.negate ? 'true' : defaultText(option)),
      ]),
    ),
  ];
}

function flags(options: readonly Option[]): string {
  return table(
    ['flag', 'meaning', 'default'],
    options.map((option) => [
      `\`${option.flags}\``,
      option.description,
      option.required || option.optional ? quoted(defaultText(option)) : '',
    ]),
  );
}

function quoted(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
