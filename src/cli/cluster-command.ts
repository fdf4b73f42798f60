/**
 * What commands that talk to a cluster share: kubectl's flags, the connection, the streams, and how they end.
 */
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../api/duration.ts';
import { KubeClient } from '../kube/client.ts';
import { connectionFromKubeconfig } from '../kube/connection.ts';
import { KubeTransport } from '../kube/transport.ts';
import { failureOf, failureText } from './command-failure.ts';
import type { OutputFormat } from './output/object-output.ts';
import { OUTPUT_FORMATS } from './output/object-output.ts';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: OutputFormat;
  /** A duration such as `30s`. */
  readonly timeout: string;
  readonly wait: boolean;
  readonly dryRun: 'none' | 'client' | 'server';
  readonly quiet?: boolean;
}

export interface CommandIo {
  readonly client: KubeClient;
  /** Of the context; `default` where it names none. */
  readonly namespace: string;
  /** Results. */
  readonly out: (text: string) => void;
  /** Progress, warnings and hints, a line each. */
  readonly say: (line: string) => void;
  /** Asks on a terminal; undefined where there is none. */
  readonly ask: ((question: string) => Promise<boolean>) | undefined;
}

/** How long to wait for the controller, in milliseconds. */
export function patienceMs({ timeout }: ClusterFlags): number {
  return parseDuration(timeout) ?? 0;
}

function duration(text: string): string {
  if (parseDuration(text) === undefined) throw new InvalidArgumentError(`"${text}" is not a duration such as 30s, 5m or 24h.`);
  return text;
}

export function addClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', "the cluster; kubectl's default when absent")
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'how the result is printed').choices(OUTPUT_FORMATS).default('table'))
    .option('--timeout <duration>', 'wait at most this long for the controller', duration, '30s')
    .option('--no-wait', 'do not wait for the controller')
    .addOption(
      new Option('--dry-run <mode>', 'change nothing: client shows what would be sent, server has it checked')
        .choices(['none', 'client', 'server'])
        .default('none'),
    )
    .option('-q, --quiet', 'no progress and no hints');
}

/** Runs a command on the cluster its flags name. @returns the exit code */
export async function onCluster(name: string, flags: ClusterFlags, run: (io: CommandIo) => Promise<number>): Promise<number> {
  let client: KubeClient | undefined;
  try {
    const connection = await connectionFromKubeconfig({
      ...(flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig }),
      ...(flags.context === undefined ? {} : { context: flags.context }),
    });
    client = new KubeClient(new KubeTransport(connection, { connections: 2, userAgent: `kiln-${name}` }));
    return await run({
      client,
      namespace: connection.namespace ?? 'default',
      out: (text) => void process.stdout.write(text),
      say: (line) => {
        if (flags.quiet !== true) process.stderr.write(`${line}\n`);
      },
      ask: process.stdin.isTTY && process.stderr.isTTY ? askOnTerminal : undefined,
    });
  } catch (error) {
    const failure = failureOf(error, name);
    process.stderr.write(failureText(failure));
    return failure.exit;
  } finally {
    await client?.close();
  }
}

async function askOnTerminal(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
