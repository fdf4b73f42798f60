/** Metrics and probes of a controller, where its flags say. */
import type { Controller } from '../controller/controller.ts';
import { watchEventLoop } from '../runtime/event-loop-lag.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { parseBindAddress, serveOperations } from '../runtime/operations-server.ts';
import { VERSION } from '../runtime/version.ts';
import { DEFAULT_BIND } from './defaults.ts';

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

/**
 * The default address may be taken, by another controller on the same machine: then the process goes on without. One that was asked
 * for must be had.
 *
 * @param bind `HOST:PORT`, `:PORT` or `off`
 * @returns ends it
 * @throws Error as `listen` does
 */
export async function serveController(bind: string, controller: Controller, metrics: Metrics, log: Log): Promise<() => Promise<void>> {
  const address = bind === 'off' ? undefined : parseBindAddress(bind);
  if (address === undefined) return () => Promise.resolve();
  try {
    const server = await serveOperations({ address, metrics, waitingFor: () => controller.waitingFor });
    log.info('serving metrics and probes', { url: server.url, paths: '/metrics, /healthz, /readyz' });
    return () => server.close();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (bind !== DEFAULT_BIND) throw new Error(`--metrics-bind-address ${bind}: ${why}`, { cause: error });
    log.warn('metrics and probes are not served', { address: bind, error: why, next: 'name another address with --metrics-bind-address' });
    return () => Promise.resolve();
  }
}
