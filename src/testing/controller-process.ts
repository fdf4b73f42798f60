/**
 * The controller as a process of its own, so that kill -9, SIGSTOP and SIGCONT act as on a node.
 */
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { NODE_FLAGS } from '../runtime/heap.ts';
import { Daemon } from '../../lab/programs/daemon.ts';
import { testEnvironment } from './environment.ts';
import { PATIENCE_MS } from './patience.ts';
import { PROGRAM_UNDER_TEST } from './program-under-test.ts';
import { until } from './until.ts';

export interface ControllerProcessOptions {
  readonly kubeconfig: string;
  readonly ovnNb: string;
  readonly log: string;
  /** Replaces the command line up to the flags, for a scenario that runs another program. */
  readonly flags?: readonly string[];
  /** The file that Node runs. Default: the sources. */
  readonly program?: string;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Lease times of a scenario, in seconds: short, and longer than a loaded machine suspends a process. */
export const LEASE_SECONDS = { duration: 4, deadline: 3, retry: 0.25 } as const;

/** Node's diagnostic report, as far as it is read. */
interface Report {
  readonly javascriptStack: { readonly stack?: readonly string[] };
}

export class ControllerProcess {
  readonly #daemon: Daemon;
  readonly #log: string;

  constructor({ kubeconfig, ovnNb, log, flags = [], program = PROGRAM_UNDER_TEST }: ControllerProcessOptions) {
    this.#log = log;
    const lease = [
      `--leader-elect-lease-duration=${LEASE_SECONDS.duration}`,
      `--leader-elect-renew-deadline=${LEASE_SECONDS.deadline}`,
      `--leader-elect-retry-period=${LEASE_SECONDS.retry}`,
    ];
    const command = [
      process.execPath,
      ...NODE_FLAGS,
      '--report-on-signal',
      '--report-exclude-network',
      `--report-directory=${dirname(log)}`,
      `--report-filename=${basename(log)}.report.json`,
      program,
      'start',
      '--kubeconfig',
      kubeconfig,
      '--ovn-nb',
      ovnNb,
      '--log-level=debug',
      '--metrics-bind-address=127.0.0.1:0',
      ...lease,
      ...flags,
    ] as const;
    this.#daemon = new Daemon({ name: 'kiln', command: [...command], log, env: testEnvironment() });
  }

  get pid(): number | undefined {
    return this.#daemon.pid;
  }

  start(): void {
    this.#daemon.start();
  }

  /** Kills it: the Lease is not released. */
  async kill9(): Promise<void> {
    await this.#daemon.kill('SIGKILL');
  }

  async pause(): Promise<void> {
    await this.#daemon.kill('SIGSTOP');
  }

  async resume(): Promise<void> {
    await this.#daemon.kill('SIGCONT');
  }

  /** Stops it with SIGTERM: it releases the Lease. */
  async stop(): Promise<void> {
    await this.#daemon.stop();
  }

  /** Raw lines of its log that contain a text. */
  async linesWith(text: string): Promise<readonly string[]> {
    const all = await readFile(this.#log, 'utf8').catch(() => '');
    return all.includes(text) ? all.split('\n').filter((line) => line.includes(text)) : [];
  }

  async log(): Promise<readonly LogLine[]> {
    const text = await readFile(this.#log, 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as LogLine] : []));
  }

  /** Its metrics as text. */
  async metrics(): Promise<string> {
    const { url } = await this.untilLogged('serving metrics and probes');
    return await (await fetch(`${String(url)}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) })).text();
  }

  /** What its JavaScript thread does now, also if that never ends. */
  async stack(): Promise<string> {
    const file = `${this.#log}.report.json`;
    await rm(file, { force: true });
    await this.#daemon.kill('SIGUSR2');
    const read = async (): Promise<Report | undefined> => {
      try {
        return JSON.parse(await readFile(file, 'utf8')) as Report;
      } catch {
        return undefined;
      }
    };
    const { javascriptStack } = await until('the controller writes its report', read, PATIENCE_MS);
    return (javascriptStack.stack ?? []).join('\n');
  }

  /** Waits until it has logged a message. @param from lines before this one do not count */
  async untilLogged(message: string, { from = 0, patienceMs = PATIENCE_MS } = {}): Promise<LogLine> {
    let lines: readonly LogLine[] = [];
    const logged = async (): Promise<LogLine | undefined> => {
      lines = await this.log();
      return lines.slice(from).find(({ msg }) => msg === message);
    };
    const lastLines = (): string =>
      `its last lines:\n${lines
        .slice(-15)
        .map((line) => JSON.stringify(line))
        .join('\n')}`;
    return until(`the controller logs "${message}"`, logged, patienceMs, lastLines);
  }
}
