/**
 * Settings: the options of a command. Each can be a flag, an environment variable or a key of a file; one function checks all three.
 * Precedence: flag, environment, file, default.
 */
import { readFileSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { InvalidArgumentError } from 'commander';
import { parseDocument } from 'yaml';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { commandText } from '../../text/command-text.ts';
import { editDistance } from '../../text/edit-distance.ts';

export const CONFIG_VARIABLE = 'KILN_CONFIG';
/** Options that choose what the command does: flags only. */
const FLAGS_ALONE: ReadonlySet<string> = new Set(['config', 'check', 'help', 'output']);
/** Environment variables of other programs of the project. */
const OTHER_VARIABLES = /^KILN_(CACHE|BENCH_\w+|TEST_\w+)$/;
/** The variables that Kubernetes sets in containers for a Service whose name begins with `kiln`. */
const SERVICE_LINKS = /^KILN(_\w+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/;

export interface Setting {
  /** Key in the file. */
  readonly key: string;
  readonly flag: string;
  readonly variable: string;
  readonly option: Option;
}

export type Source = 'flag' | 'environment' | 'file' | 'default';

export interface Configured extends Setting {
  /** The value as written; absent if not set. */
  readonly text: string | undefined;
  readonly source: Source;
}

/** One sentence that names the setting, the value and the rule. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** The next command; undefined if the help of the command is the next step. */
  readonly next: string | undefined;

  constructor(message: string, { next, ...options }: ErrorOptions & { readonly next?: string } = {}) {
    super(message, options);
    this.next = next;
  }
}

/** Attaches the description of accepted values to an option's parser. */
export function accepting<T>(accepts: string, read: (text: string) => T): ((text: string) => T) & { readonly accepts: string } {
  return Object.assign((text: string) => read(text), { accepts });
}

/** The same for an option whose value is JSON: in a file it may be a list of mappings. */
export function structured<T>(accepts: string, read: (text: string) => T): ((text: string) => T) & { readonly isStructured: true } {
  return Object.assign(accepting(accepts, read), { isStructured: true as const });
}

/** Description of the values an option accepts. */
export function acceptedBy({ argChoices, parseArg, required, optional, flags }: Option): string {
  if (!required && !optional) return 'true or false';
  if (argChoices !== undefined) return argChoices.join(', ');
  if (parseArg !== undefined && 'accepts' in parseArg) return String(parseArg.accepts);
  return (/[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? '').replace('|', ' or ');
}

/** The environment variable of a setting. @param key in the file */
export function variableOf(key: string): string {
  return `KILN_${key.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/** The settings of a command, in the order of its help. */
export function settingsOf(command: Command): readonly Setting[] {
  return command.options
    .filter((option) => !FLAGS_ALONE.has(option.attributeName()))
    .map((option) => ({
      key: option.attributeName(),
      flag: option.long ?? option.flags,
      variable: variableOf(option.attributeName()),
      option,
    }));
}

/** The text of each flag, before parsing. */
const typed = new WeakMap<Command, Map<string, string>>();

/** Call after all options were added: keeps their text, so that it is printed as typed. */
export function rememberTexts(command: Command): Command {
  const texts = new Map<string, string>();
  typed.set(command, texts);
  for (const option of command.options)
    command.on(`option:${option.name()}`, (text: unknown) => {
      if (typeof text === 'string') texts.set(option.attributeName(), text);
    });
  return command;
}

/**
 * Sets the options without a flag from the environment and the file.
 *
 * @returns every setting with its source
 * @throws ConfigurationError
 */
export function configure(command: Command, env: NodeJS.ProcessEnv = process.env): readonly Configured[] {
  const settings = settingsOf(command);
  refuseUnknownVariables(settings, env);
  const named = command.opts<{ readonly config?: string }>().config;
  const path = (named ?? env[CONFIG_VARIABLE] ?? '') || undefined;
  // `kiln config` without the file prints every key.
  const allKeys = (env[CONFIG_VARIABLE] ?? '') === '' ? 'kiln config' : `${CONFIG_VARIABLE}= kiln config`;
  const file = path === undefined ? new Map<string, string>() : readFile(path, settings, allKeys);
  return settings.map((setting): Configured => {
    const { key, flag, variable, option } = setting;
    if (command.getOptionValueSource(key) === 'cli')
      return { ...setting, source: 'flag', text: typed.get(command)?.get(key) ?? valueText(command.getOptionValue(key)) };
    const given = env[variable];
    if (given !== undefined && !(SERVICE_LINKS.test(variable) && given.includes('://'))) {
      command.setOptionValueWithSource(key, parse(option, given, `environment variable ${variable}`), 'env');
      return { ...setting, source: 'environment', text: given };
    }
    const written = file.get(key);
    if (written !== undefined) {
      command.setOptionValueWithSource(key, parse(option, written, `${path}: ${key}`), 'config');
      return { ...setting, source: 'file', text: written };
    }
    return { ...setting, source: 'default', text: flag.startsWith('--no-') ? 'true' : defaultText(option) };
  });
}

/** The default as text; undefined without one. */
export function defaultText({ defaultValue, defaultValueDescription, required, optional }: Option): string | undefined {
  if (defaultValueDescription !== undefined) return defaultValueDescription;
  // A flag without a value is false by default.
  if (defaultValue === undefined) return required || optional ? undefined : 'false';
  return valueText(defaultValue);
}

function valueText(value: unknown): string | undefined {
  if (Array.isArray(value) && value.some((one) => typeof one === 'object')) return JSON.stringify(value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.join(',');
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function parse(option: Option, text: string, where: string): unknown {
  if (!option.required && !option.optional) {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new ConfigurationError(`${where}: "${withoutSecrets(text)}" is neither true nor false.`);
  }
  if (text === '' && option.defaultValue === undefined) return undefined;
  if (option.parseArg === undefined) return text;
  try {
    return option.parseArg(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const allowed = option.argChoices === undefined ? '' : `"${text}" is none of ${option.argChoices.join(', ')}.`;
    throw new ConfigurationError(withoutSecrets(`${where}: ${allowed || error.message}`), { cause: error });
  }
}

/** @param allKeys the command that prints every key */
function readFile(path: string, settings: readonly Setting[], allKeys: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`--config ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault?.code === 'MULTIPLE_DOCS')
    throw new ConfigurationError(
      `${path} holds more than one YAML document: another begins at line ${fault.linePos?.[0].line ?? 2}; write all settings into one, without "---" between them`,
    );
  if (fault !== undefined)
    throw new ConfigurationError(withoutSecrets(`${path} is not YAML: ${(fault.message.split('\n')[0] ?? '').replace(/:$/, '')}`));
  const content: unknown = document.toJS();
  if (content === null || content === undefined) return new Map();
  if (typeof content !== 'object' || Array.isArray(content))
    throw new ConfigurationError(`${path} is not a list of settings, one "name: value" a line`, { next: allKeys });
  const keys = settings.map(({ key }) => key);
  return new Map(
    Object.entries(content).map(([key, value]: [string, unknown]) => {
      if (!keys.includes(key))
        throw new ConfigurationError(`${path}: "${key}" is not a setting${suggestion(key, keys)}`, { next: allKeys });
      const { parseArg } = (settings.find((one) => one.key === key) as Setting).option;
      if (parseArg !== undefined && 'isStructured' in parseArg && typeof value === 'object') return [key, JSON.stringify(value)];
      return [key, scalarText(value, `${path}: ${key}`)];
    }),
  );
}

/** Lists are written with commas. */
function scalarText(value: unknown, where: string): string {
  if (Array.isArray(value)) return value.map((one) => scalarText(one, where)).join(',');
  if (value === null) return '';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new ConfigurationError(`${where}: a value or a list of values is expected, not a mapping`);
}

function refuseUnknownVariables(settings: readonly Setting[], env: NodeJS.ProcessEnv): void {
  const known = settings.map(({ variable }) => variable);
  for (const name of Object.keys(env)) {
    if (!name.startsWith('KILN_') || name === CONFIG_VARIABLE || known.includes(name)) continue;
    if (OTHER_VARIABLES.test(name) || SERVICE_LINKS.test(name)) continue;
    throw new ConfigurationError(`environment variable ${name} is not a setting${suggestion(name, known)}`, {
      next: commandText`unset ${name}`,
    });
  }
}

/** The name that was probably meant: of four letters one may differ, of twelve or more three. */
function suggestion(word: string, known: readonly string[]): string {
  const bare = (text: string): string =>
    text
      .replace(/^KILN_/, '')
      .toLowerCase()
      .replace(/[-_]/g, '');
  const [best] = known
    .map((name) => ({ name, distance: editDistance(bare(word), bare(name)) }))
    .filter((one) => one.distance <= Math.min(3, Math.max(bare(word).length, bare(one.name).length) / 4))
    .toSorted((a, b) => a.distance - b.distance);
  return best === undefined ? '' : `; did you mean ${best.name}?`;
}
