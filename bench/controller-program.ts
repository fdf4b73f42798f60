/** A controller in a process of its own that reports its cost: `measured-controller.ts` starts it and asks. */
import { subscribe } from 'node:diagnostics_channel';
import { northboundSession } from '../src/cli/connection/connect.ts';
import { makeController } from '../src/cli/connection/make-controller.ts';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { keepHeapSmall } from '../src/runtime/heap.ts';
import { optimizeWhenBusy } from '../src/runtime/late-compilers.ts';
import { SILENT } from '../src/runtime/log.ts';
import type { Failure, Question, Report } from './measured-controller.ts';
import { followPods } from './pod-timeline.ts';
import { ProgressWatch } from './progress-watch.ts';
import { TurnWatch } from './turn-watch.ts';

/** Beside much other work a renewal may be late, which is not to end a measurement. */
const LONG_LEASE = { durationMs: 150_000, renewMs: 120_000, retryMs: 2_000 } as const;

keepHeapSmall();
optimizeWhenBusy();
const [kubeconfig = '', ovnNb = '', followed] = process.argv.slice(2);
const requests: Record<string, number> = {};
subscribe('undici:request:create', (message) => {
  const { method, path } = (message as { readonly request: { readonly method: string; readonly path: string } }).request;
  const what = kindOf(method, path);
  requests[what] = (requests[what] ?? 0) + 1;
});

const connection = await connectionFromKubeconfig({ path: kubeconfig });
const [client, leaseClient] = [64, 2].map((connections) => new KubeClient(new KubeTransport(connection, { connections })));
if (client === undefined || leaseClient === undefined) throw new Error('two clients');
const session = northboundSession({ ovnNb }, SILENT);
const controller = makeController(client, session, SILENT, { leaseClient, lease: LONG_LEASE, collectionLimit: false });
const turns = new TurnWatch(() => controller.doing);
let operations = 0;
let leadingMs: number | undefined;
countOperations();
const timelines = followed === undefined ? undefined : followPods(controller, client, 'default', followed);
controller.start();
// Starts after the modules are loaded, which is not to be measured.
turns.start();
const look = setInterval(() => {
  if (controller.status.phase !== 'leading') return;
  leadingMs = performance.now();
  clearInterval(look);
}, 2);

process.on('message', (question: Question) => void answer(question));
// The parent process is gone, for whatever reason.
process.once('disconnect', () => process.exit());
process.send?.({ kind: 'ready' });

async function answer(question: Question): Promise<void> {
  if (question === 'stop') {
    await controller.stop();
    await Promise.all([client?.close(), leaseClient?.close()]);
    process.disconnect();
    return;
  }
  const problem = question === 'quiet' ? await untilQuiet() : undefined;
  process.send?.(problem === undefined ? report() : ({ kind: 'failure', problem } satisfies Failure));
}

/** Waits until nothing is left to do. @returns why that will not happen */
function untilQuiet(): Promise<string | undefined> {
  const watch = new ProgressWatch(() => ({ ...controller.status, operations, writes: requests['write'] ?? 0, lists: listing() }));
  return new Promise((resolve) => {
    const looking = setInterval(() => {
      const problem = watch.problem();
      if (problem === undefined) return;
      clearInterval(looking);
      resolve(problem);
    }, 500);
    void controller.untilQuiet().then(() => {
      clearInterval(looking);
      resolve(undefined);
    });
  });
}

/**
 * Reads count as progress only during a first list, which may have many pages; later a kind that is not served is asked for again and
 * again.
 */
function listing(): number {
  return controller.status.phase === 'observing' ? (requests['read'] ?? 0) : 0;
}

function report(): Report {
  const { user, system } = process.cpuUsage();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return {
    kind: 'report',
    upMs: performance.now(),
    leadingMs,
    cpuMs: (user + system) / 1_000,
    residentMb: rss / 1_048_576,
    peakMb: process.resourceUsage().maxRSS / 1_024,
    heapMb: (heapUsed + arrayBuffers) / 1_048_576,
    collections: turns.tidied,
    longestTurn: turns.end(),
    requests: { ...requests },
    operations,
    status: controller.status,
    timelines: timelines?.() ?? {},
  };
}

/** Counts operations sent to the Northbound database, those of the fence included. */
function countOperations(): void {
  const transact = session.transact.bind(session);
  session.transact = (sent, options) => {
    operations += sent.length;
    return transact(sent, options);
  };
}

function kindOf(method: string, path: string): string {
  if (path.includes('/leases')) return 'lease';
  if (path.includes('watch=true')) return 'watch';
  return method === 'GET' ? 'read' : 'write';
}
