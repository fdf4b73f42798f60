/**
 * `kiln start`: the laboratory with a demo, or with `--kubeconfig` and `--ovn-nb` the controller on a real cluster.
 */
import { resolve } from 'node:path';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { ServerDatedClock } from '../../controller/time/clock-skew.ts';
import type { Controller } from '../../controller/controller.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { connectionFromCluster, connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import { isKubeError } from '../../kube/errors.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { NO_JOURNAL } from '../../journal/journal.ts';
import { keepHeapSmall } from '../../runtime/heap.ts';
import { jsonLog } from '../../runtime/json-log.ts';
import type { Log } from '../../runtime/log.ts';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unimplemented-kinds.ts';
import { northboundSession } from '../connection/connect.ts';
import { makeController } from '../connection/make-controller.ts';
import { CommandFailure, EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import { printErrorText } from '../output/terminal.ts';
import { networkSettings } from '../settings/network-flags.ts';
import type { Webhook } from '../../webhook/webhook.ts';
import type { WebhookSettings } from '../settings/webhook-flags.ts';
import { startWebhook, webhookSettings } from '../settings/webhook-flags.ts';
import { openJournal } from '../process/journal.ts';
import { scheduleBackups } from '../process/scheduled-backups.ts';
import { processMetrics, serveController, serveInTurn } from '../process/operations.ts';
import type { Settings } from '../../world/settings.ts';
import { warnOfReadableSecrets } from '../settings/secret-files.ts';
import { interrupted } from '../process/interruption.ts';
import type { StartFlags } from '../settings/start-flags.ts';
import { runLaboratory } from './start-laboratory.ts';

/**
 * @param flags without a problem that `startProblem` finds
 * @returns the exit code
 */
export async function start(flags: StartFlags): Promise<number> {
  const network = networkSettings(flags);
  if (!network.ok) throw new Error(network.problem);
  const webhook = webhookSettings(flags, flags.namespace);
  if (!webhook.ok) throw new Error(webhook.problem);
  const real = flags.kubeconfig !== undefined || flags.inCluster === true;
  return real ? runOnCluster(flags, network.settings, webhook) : runLaboratory(flags, network.settings);
}

async function runOnCluster(flags: StartFlags, settings: Settings, webhookWanted: WebhookSettings): Promise<number> {
  keepHeapSmall();
  const log = jsonLog(flags.logLevel);
  const stopped = interrupted();
  let controller: Controller | undefined;
  let client: KubeClient;
  let leaseClient: KubeClient;
  let webhook: Webhook | undefined;
  const metrics = processMetrics();
  let endServing: (() => Promise<void>) | undefined;
  try {
    const waiting = {
      get waitingFor() {
        return controller?.waitingFor ?? ['the start'];
      },
    };
    const serve = (): Promise<() => Promise<void>> =>
      serveController(flags.metricsBindAddress, waiting, metrics, log, flags.metricsTokenFile);
    // Before anything else: of two replicas on one node one alone has the journal and the ports.
    endServing = flags.inCluster === true ? await serveInTurn(serve, stopped, log) : await serve();
  } catch (error) {
    return startFailed(error);
  }
  if (endServing === undefined) return exitAfter(await stopped);
  const journal = flags.readOnly === true ? NO_JOURNAL : await openJournal(flags, log);
  try {
    const connection =
      flags.inCluster === true
        ? await connectionFromCluster()
        : await connectionFromKubeconfig({
            path: resolve(flags.kubeconfig ?? ''),
            ...(flags.context === undefined ? {} : { context: flags.context }),
          });
    client = new KubeClient(new KubeTransport(connection, { connections: 64, userAgent: 'kiln-controller' }), CONTROLLER_LEASE);
    // The Lease client sends a request every two seconds, and the API server answers at once, so its date is current.
    const clock = new ServerDatedClock(log);
    leaseClient = new KubeClient(
      new KubeTransport(connection, { connections: 1, userAgent: 'kiln-controller', onDate: (date) => clock.answered(date) }),
    );
    controller = makeController(client, northboundSession({ ...flags, ovnNb: flags.ovnNb ?? '' }, log), log, {
      leaseClient,
      clock,
      settings,
      metrics,
      subnetLabel: flags.metricsSubnetLabel,
      namespace: flags.namespace,
      readOnly: flags.readOnly === true,
      journal,
      lease: {
        durationMs: flags.leaderElectLeaseDuration * 1_000,
        renewMs: flags.leaderElectRenewDeadline * 1_000,
        retryMs: flags.leaderElectRetryPeriod * 1_000,
      },
    });
    webhook = startWebhook(webhookWanted, { client, connection, controller, metrics, log, clock });
  } catch (error) {
    return startFailed(error);
  }
  logUnimplemented(log);
  warnOfReadableSecrets(flags, log);
  controller.start();
  const endBackups = scheduleBackups(flags, () => controller.status.phase === 'leading', metrics, log);
  let logged = '';
  const waiting = setInterval(() => {
    const { phase, waitingFor } = controller.status;
    const now = waitingFor.join(', ');
    if (now === logged) return;
    logged = now;
    if (waitingFor.length > 0) log.warn('waiting', { phase, for: waitingFor });
    else log.info('waiting no more', { phase });
  }, 10_000);
  const planning = flags.readOnly === true ? logPlans(controller, log) : undefined;
  const signal = await stopped;
  clearInterval(waiting);
  clearInterval(planning);
  log.info('stopping', { signal });
  await endBackups?.();
  await webhook?.close();
  await controller.stop();
  await journal.close();
  await endServing();
  await client.close();
  await leaseClient.close();
  return exitAfter(signal);
}

function exitAfter(signal: NodeJS.Signals): number {
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.fine;
}

/** @returns the exit code */
function startFailed(error: unknown): number {
  const why = error instanceof Error ? error.message : String(error);
  const failure = isKubeError(error)
    ? failureOf(error, 'start')
    : new CommandFailure(EXIT.usage, 'kiln start failed', why, 'kiln start --help');
  printErrorText(failureText(failure));
  return isKubeError(error) ? EXIT.unreachable : failure.exit;
}

/** With `--read-only`: logs the planned writes whenever they change. */
function logPlans(controller: Controller, log: Log): NodeJS.Timeout {
  let logged: string | undefined;
  return setInterval(() => {
    if (!controller.quiet) return;
    const { rows, objects } = controller.plan();
    const changes = [
      ...rows.map(({ id, verdict }) => `${verdict.kind === 'change' ? verdict.change : verdict.kind} ${id}`),
      ...objects.map(({ verb, resource, namespace, name }) => `${verb} ${resource}/${namespace === '' ? '' : `${namespace}/`}${name}`),
    ];
    const text = changes.join('\n');
    if (text === logged) return;
    logged = text;
    log.info(changes.length === 0 ? 'plan: nothing to do' : 'plan', {
      rows: rows.length,
      objects: objects.length,
      first: changes.slice(0, 20),
    });
  }, 2_000);
}

function logUnimplemented(log: Log): void {
  log.info('not implemented yet; each such object gets a condition or an Event', {
    kinds: UNIMPLEMENTED_KINDS.map(({ resource }) => resource).join(', '),
    fields: 'bfd',
  });
}
