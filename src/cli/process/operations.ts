/** Serves metrics and probes of a controller at the addresses in its flags. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Controller } from '../../controller/controller.ts';
import { watchEventLoop } from '../../runtime/event-loop-lag.ts';
import type { Log } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { parseBindAddress, serveOperations } from '../../runtime/operations-server.ts';
import { VERSION } from '../../runtime/version.ts';
import { knowSecret } from '../../text/known-secrets.ts';

/** Default address of metrics and probes: this host alone. */
export const DEFAULT_BIND = '127.0.0.1:10670';

/** The metrics of this process, without those of a controller. */
export function processMetrics(): Metrics {
  const metrics = new Metrics();
  const lag = watchEventLoop();
  metrics.read('kiln_build_info', (report) => report({ version: VERSION, node: process.version }, 1));
  metrics.read('kiln_event_loop_lag_seconds', (report) => {
    for (const { quantile, seconds } of lag.take()) report({ quantile }, seconds);
  });
  return metrics;
}

const LOOPBACK = /^(127\.[\d.]+|::1|localhost)$/;
/** Shorter ones can be guessed. */
const SHORTEST_TOKEN = 16;

/** @throws Error with a message for the user */
export function readMetricsToken(file: string): string {
  let token: string;
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`--metrics-token-file ${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (token.length < SHORTEST_TOKEN || /\s/.test(token))
    throw new Error(`--metrics-token-file ${file} holds no token: one word of at least ${SHORTEST_TOKEN} characters`);
  knowSecret(token);
  return token;
}

/**
 * @param tokenFile token of clients on other hosts that read metrics; read again at each request
 * @param bind `HOST:PORT`, `:PORT` or `off`
 * @returns a function that stops the server
 * @throws AddressError if the address cannot be used
 */
export async function serveController(
  bind: string,
  controller: Pick<Controller, 'waitingFor'>,
  metrics: Metrics,
  log: Log,
  tokenFile?: string,
): Promise<() => Promise<void>> {
  const address = bind === 'off' ? undefined : parseBindAddress(bind);
  if (address === undefined) return () => Promise.resolve();
  try {
    let logged = '';
    const token = (file: string): string | undefined => {
      try {
        const read = readMetricsToken(file);
        logged = '';
        return read;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        if (text !== logged) log.warn('metrics are not served to other hosts', { error: text });
        logged = text;
        return undefined;
      }
    };
    const server = await serveOperations({
      address,
      metrics,
      waitingFor: () => controller.waitingFor,
      ...(tokenFile !== undefined && { token: () => token(tokenFile) }),
    });
    if (tokenFile === undefined && !LOOPBACK.test(address.host ?? ''))
      log.warn('metrics are served to this host only, although other hosts reach the port', {
        bind,
        next: 'set --metrics-token-file to serve scrapers on other hosts, or bind 127.0.0.1',
      });
    log.info('serving metrics and probes', { url: server.url, paths: '/metrics, /healthz, /readyz' });
    return () => server.close();
  } catch (error) {
    throw new AddressError(`--metrics-bind-address ${bind} is not available: ${bindProblem(error)}; choose another one, or off`, {
      cause: error,
    });
  }
}

const RETRY_MS = 500;

/**
 * For a pod, which has the ports of its node: a second replica there is a spare, which begins when the first one ends. Until then it has no
 * cache, no journal and no part in the election, and the probes of its pod are answered by the first one.
 *
 * @param serve as `serveController` does
 * @returns undefined if `stopped` resolved first
 * @throws AddressError if the address cannot be used, whoever has it
 */
export async function serveInTurn<T>(serve: () => Promise<T>, stopped: Promise<unknown>, log: Log): Promise<T | undefined> {
  for (let waits = false; ; waits = true) {
    try {
      return await serve();
    } catch (error) {
      if (!(error instanceof AddressError) || (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE') throw error;
      if (!waits) log.info('another replica runs on this node: this one waits until that ends', { reason: error.message });
    }
    const isStopped = await Promise.race([stopped.then(() => true), sleep(RETRY_MS).then(() => false)]);
    if (isStopped) return undefined;
  }
}

/** Several laboratories may run in parallel: without a chosen address, another port is used if the default one is taken. */
export async function serveLaboratory(bind: string, controller: Controller, metrics: Metrics, log: Log): Promise<() => Promise<void>> {
  try {
    return await serveController(bind, controller, metrics, log);
  } catch (error) {
    if (bind !== DEFAULT_BIND) throw error;
    return await serveController(DEFAULT_BIND.replace(/\d+$/, '0'), controller, metrics, log);
  }
}

/** The address in a flag cannot be listened at: a usage error. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

/** The failure of a laboratory's start; names the flag if its port cannot be used. */
export function laboratoryProblem(port: number | undefined, error: unknown): unknown {
  if (port === undefined || !(error instanceof Error) || (error as NodeJS.ErrnoException).syscall !== 'listen') return error;
  return new AddressError(`--port ${port} is not available: ${bindProblem(error)}; choose another one, or omit it`, { cause: error });
}

const BIND_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this host has no such address',
  EACCES: 'this user may not listen there',
};

function bindProblem(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return BIND_PROBLEMS[code] ?? message;
}
