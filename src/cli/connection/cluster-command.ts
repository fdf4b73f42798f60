/**
 * The common parts of commands that talk to a cluster: kubectl's flags, the connection, the streams, the exit.
 */
import { createInterface } from 'node:readline/promises';
import { inspect } from 'node:util';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import type { Connection } from '../../kube/transport/connection.ts';
import type { TransportOptions } from '../../kube/transport/transport.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import type { Paint } from '../../explain/tree-text.ts';
import type { Line, Output } from '../output/terminal.ts';
import { lineText, print, printError, printErrorText } from '../output/terminal.ts';
import type { ColorMode } from '../output/paint.ts';
import { COLOR_MODES, painter } from '../output/paint.ts';
import type { OutputFormat } from '../output/object-output.ts';
import { OUTPUT_FORMATS } from '../output/object-output.ts';

/** kubectl's flags for the connection, and verbosity. */
export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** A duration such as `30s`; zero for no limit. */
  readonly requestTimeout: string;
  readonly quiet?: boolean;
  /** Failures are printed with cause and stack. */
  readonly verbose?: boolean;
  readonly color: ColorMode;
}

export interface ClusterFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  /** A duration such as `30s`. */
  readonly timeout: string;
  readonly wait: boolean;
  readonly dryRun: 'none' | 'client' | 'server';
}

export interface CommandIo {
  readonly client: KubeClient;
  /** Where the client is connected to, for streams into pods; undefined in tests of parts. */
  readonly connection?: Connection;
  /** Namespace of the context; `default` if it names none. */
  readonly namespace: string;
  /** Results: lines for a person, a text for programs. */
  readonly out: (output: Output) => void;
  /** Progress, warnings and hints, a line each. */
  readonly say: (line: Line) => void;
  /** Formats text for standard output: in colour on a terminal, plain elsewhere. */
  readonly paint: Paint;
  /** Sets the line that Ctrl-C prints at the end of the command. */
  readonly lastWords: (words: () => string) => void;
  /** From now on Ctrl-C calls this instead of ending the command; a second Ctrl-C ends it. */
  readonly onInterrupt: (stop: () => void) => void;
  /** Asks for confirmation on a terminal; undefined without one. */
  readonly ask: ((question: string) => Promise<boolean>) | undefined;
}

/** How long to wait for the controller, in milliseconds. */
export function patienceMs({ timeout }: ClusterFlags): number {
  return parseDuration(timeout) ?? 0;
}

export function duration(text: string): string {
  if (parseDuration(text) === undefined) throw new InvalidArgumentError(`"${text}" is not a duration such as 30s, 5m or 24h.`);
  return text;
}

/** The limit for `--request-timeout=0`. */
const NO_LIMIT_MS = 24 * 3_600_000;

export function requestTimeoutMs({ requestTimeout }: Pick<ConnectionFlags, 'requestTimeout'>): number {
  return parseDuration(requestTimeout) || NO_LIMIT_MS;
}

export function addConnectionFlags(command: Command): Command {
  return command
    .optionsGroup('Connection and output:')
    .option('--kubeconfig <file>', "kubeconfig of the cluster (default: kubectl's)")
    .option('--context <name>', 'context of the kubeconfig')
    .option('--request-timeout <duration>', 'time limit of a request and of the initial read; 0 for none', timeout, '30s')
    .addOption(
      new Option('--color <mode>', 'colours; auto: on a terminal, unless NO_COLOR is set or TERM is dumb')
        .choices(COLOR_MODES)
        .default('auto'),
    )
    .option('-q, --quiet', 'no progress and no hints')
    .option('-v, --verbose', 'print failures with their cause and stack');
}

function timeout(text: string): string {
  return text === '0' ? '0s' : duration(text);
}

export function addClusterFlags(command: Command): Command {
  return addConnectionFlags(command)
    .addOption(new Option('-o, --output <format>', 'output format').choices(OUTPUT_FORMATS).default('table'))
    .option('--timeout <duration>', 'time limit of waiting for the controller', duration, '30s')
    .option('--no-wait', 'do not wait for the controller')
    .addOption(
      new Option('--dry-run <mode>', 'change nothing; client: print the request; server: have the API server check it')
        .choices(['none', 'client', 'server'])
        .default('none'),
    );
}

/**
 * For a command that lists each kind once. A further connection costs a handshake of TLS on both sides, more than a short list; long lists are
 * streams, which have connections of their own.
 */
export const BRIEFLY: Pick<TransportOptions, 'onlyReads' | 'connections'> = { connections: 8 };

/** Runs a command on the cluster of its flags. @returns the exit code */
export async function onCluster(
  name: string,
  flags: ConnectionFlags,
  run: (io: CommandIo) => Promise<number>,
  more: Pick<TransportOptions, 'onlyReads' | 'connections'> = {},
): Promise<number> {
  let client: KubeClient | undefined;
  let lastWords = (): string => '';
  let stop: (() => void) | undefined;
  process.on('SIGINT', () => {
    const stopping = stop;
    stop = undefined;
    if (stopping !== undefined) return stopping();
    const words = lastWords();
    if (words !== '') printError(words);
    process.exit(EXIT.interrupted);
  });
  try {
    const connection = await connectionFromKubeconfig({
      ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
    });
    client = new KubeClient(
      new KubeTransport(connection, { connections: 64, userAgent: `kiln-${name}`, timeoutMs: requestTimeoutMs(flags), ...more }),
    );
    return await run({
      client,
      connection,
      namespace: connection.namespace ?? 'default',
      out: print,
      say: (line) => {
        if (flags.quiet !== true) printError(line);
      },
      lastWords: (words) => {
        lastWords = words;
      },
      onInterrupt: (stopping) => {
        stop = stopping;
      },
      paint: painter(flags.color, process.stdout),
      ask: process.stdin.isTTY && process.stderr.isTTY ? askOnTerminal : undefined,
    });
  } catch (error) {
    const failure = failureOf(error, name);
    printErrorText(failureText(failure));
    if (flags.verbose === true) printErrorText(withoutSecrets(inspect(error)));
    return failure.exit;
  } finally {
    await client?.close();
  }
}

async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While the command asks, Ctrl-C is no signal. Ctrl-D ends the input, which counts as no.
  terminal.once('SIGINT', () => {
    process.stderr.write('\n');
    process.kill(process.pid, 'SIGINT');
  });
  const ended = new Promise<undefined>((done) => {
    terminal.once('close', () => done(undefined));
  });
  try {
    const answer = await Promise.race([terminal.question(`${lineText(question)} [y/N] `), ended]);
    if (answer === undefined) process.stderr.write('\n');
    return /^y(es)?$/i.test((answer ?? '').trim());
  } finally {
    terminal.close();
  }
}
