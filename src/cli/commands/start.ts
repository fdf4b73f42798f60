/**
 * `kiln start`: the laboratory with a demo, or with `--kubeconfig` and `--ovn-nb` the controller on a real cluster.
 */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { ServerDatedClock } from '../../controller/time/clock-skew.ts';
import type { Controller } from '../../controller/controller.ts';
import { KubeClient } from '../../kube/client.ts';
import { connectionFromCluster, connectionFromKubeconfig } from '../../kube/connection.ts';
import { isKubeError } from '../../kube/errors.ts';
import { KubeTransport } from '../../kube/transport.ts';
import { keepHeapSmall } from '../../runtime/heap.ts';
import { jsonLog } from '../../runtime/log.ts';
import type { Log, LogLevel } from '../../runtime/log.ts';
import { openPrivate } from '../../runtime/private-file.ts';
import { redactedText } from '../../runtime/redaction.ts';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unserved-kinds.ts';
import type { OvnFlags } from '../connect.ts';
import { makeController, northboundSession } from '../connect.ts';
import { demoObjects, demoPods } from '../demo.ts';
import type { Laboratory } from '../laboratory.ts';
import { laboratoryPackage } from '../laboratory.ts';
import { LiveSummary } from '../output/live-summary.ts';
import type { Progress } from '../output/progress.ts';
import { tell } from '../output/terminal.ts';
import { progressTo, seconds } from '../output/progress.ts';
import type { NetworkFlags } from '../network-flags.ts';
import { networkSettings } from '../network-flags.ts';
import { CLIENT_NAME } from '../../webhook/client-identity.ts';
import type { Webhook } from '../../webhook/webhook.ts';
import type { WebhookConfiguration } from '../../webhook/webhook-configuration.ts';
import {
  CONFIGURATION_NAME,
  SECRET_NAME,
  WEBHOOK_CONFIGURATIONS,
  WEBHOOK_PATH,
  webhookConfiguration,
} from '../../webhook/webhook-configuration.ts';
import type { WebhookFlags, WebhookSettings } from '../webhook-flags.ts';
import { startWebhook, webhookSettings } from '../webhook-flags.ts';
import { AddressError, laboratoryProblem, processMetrics, serveController, serveLaboratory } from '../operations.ts';
import type { Settings } from '../../world/settings.ts';
import { DEFAULT_DIRECTORY } from '../defaults.ts';
import { sayWhatOthersRead } from '../secret-files.ts';
import { watchOutput } from '../output-watch.ts';
import { watchStarters } from '../starter-watch.ts';
import { check } from './check.ts';
import { commandText } from '../../text/command-text.ts';

export interface StartFlags extends Partial<OvnFlags>, NetworkFlags, WebhookFlags {
  /** In a laboratory. */
  readonly webhook: boolean;
  readonly check?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly namespace: string;
  /** Seconds. */
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
  readonly directory: string;
  readonly keep?: boolean;
  readonly nodes: number;
  readonly port?: number;
  readonly demo: boolean;
  readonly logLevel: LogLevel;
  readonly metricsBindAddress: string;
  readonly metricsTokenFile?: string;
  readonly metricsSubnetLabel: boolean;
  readonly readOnly?: boolean;
}

/** Where `kiln` is, in a clone. */
const BIN = resolve(import.meta.dirname, '../../../bin');

/** @param flags of which `startProblem` says nothing. @returns the exit code */
export async function start(flags: StartFlags): Promise<number> {
  const network = networkSettings(flags);
  if (!network.ok) throw new Error(network.problem);
  const webhook = webhookSettings(flags, flags.namespace);
  if (!webhook.ok) throw new Error(webhook.problem);
  const real = flags.kubeconfig !== undefined || flags.inCluster === true;
  return real ? runOnCluster(flags, network.settings, webhook) : runLaboratory(flags, network.settings);
}

/** Ends with the first of SIGINT, SIGTERM and SIGHUP (a terminal that was closed), or when the npm that started it or the reader of its output has ended; a second signal ends the process at once. */
function interrupted(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    watchStarters(() => done('SIGTERM'));
    watchOutput(() => done('SIGTERM'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(130));
        done(signal);
      });
    }
  });
}

async function runOnCluster(flags: StartFlags, settings: Settings, webhookWanted: WebhookSettings): Promise<number> {
  keepHeapSmall();
  const log = jsonLog(flags.logLevel);
  const stopped = interrupted();
  let controller: Controller;
  let client: KubeClient;
  let leaseClient: KubeClient;
  let endServing: () => Promise<void>;
  let webhook: Webhook | undefined;
  const metrics = processMetrics();
  try {
    const connection =
      flags.inCluster === true
        ? await connectionFromCluster()
        : await connectionFromKubeconfig({
            path: resolve(flags.kubeconfig ?? ''),
            ...(flags.context === undefined ? {} : { context: flags.context }),
          });
    client = new KubeClient(new KubeTransport(connection, { connections: 64, userAgent: 'kiln-controller' }), CONTROLLER_LEASE);
    // It is asked every two seconds, and answers at once.
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
      lease: {
        durationMs: flags.leaderElectLeaseDuration * 1_000,
        renewMs: flags.leaderElectRenewDeadline * 1_000,
        retryMs: flags.leaderElectRetryPeriod * 1_000,
      },
    });
    endServing = await serveController(flags.metricsBindAddress, controller, metrics, log, flags.metricsTokenFile);
    webhook = startWebhook(webhookWanted, { client, connection, controller, metrics, log, clock });
  } catch (error) {
    tell(redactedText(`kiln start: ${error instanceof Error ? error.message : String(error)}`));
    return isKubeError(error) ? 3 : 2;
  }
  sayWhatIsNotDone(log);
  sayWhatOthersRead(flags, log);
  controller.start();
  let said = '';
  const waiting = setInterval(() => {
    const { phase, waitingFor } = controller.status;
    const now = waitingFor.join(', ');
    if (now === said) return;
    said = now;
    if (waitingFor.length > 0) log.warn('waiting', { phase, for: waitingFor });
    else log.info('waiting no more', { phase });
  }, 10_000);
  const planning = flags.readOnly === true ? sayPlans(controller, log) : undefined;
  const signal = await stopped;
  clearInterval(waiting);
  clearInterval(planning);
  log.info('stopping', { signal });
  await webhook?.close();
  await controller.stop();
  await endServing();
  await client.close();
  await leaseClient.close();
  return signal === 'SIGINT' ? 130 : 0;
}

async function runLaboratory(flags: StartFlags, settings: Settings): Promise<number> {
  const laboratory = await laboratoryPackage();
  if (laboratory === undefined) {
    tell('kiln start: this installation has no laboratory: name a cluster, with --kubeconfig and --ovn-nb, or with --in-cluster in a pod');
    return 2;
  }
  const progress = progressTo(process.stderr);
  const began = performance.now();
  // A check must not disturb a laboratory that runs: it has a folder of its own unless it is given one.
  const own =
    flags.check === true && flags.directory === DEFAULT_DIRECTORY ? await laboratory.makeTemporaryFolder('kiln-check-') : undefined;
  const directory = own ?? resolve(flags.directory);
  let release: () => Promise<void>;
  try {
    await laboratory.makeDirectory(directory);
  } catch (error) {
    tell(`kiln start: --directory ${directory} cannot be made: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  try {
    release = await laboratory.claimDirectory(directory);
  } catch (error) {
    tell(redactedText(`kiln start: ${error instanceof Error ? error.message : String(error)}`));
    return 1;
  }
  const logFile = join(directory, 'kiln.log');
  // Names of all tenants are in it.
  const logStream = createWriteStream(logFile, { fd: openPrivate(logFile, 'w') });
  const log = jsonLog(flags.logLevel, (line) => void logStream.write(`${line}\n`));
  const lab = new laboratory.Laboratory({
    directory,
    nodes: flags.nodes,
    keep: flags.keep === true,
    ...(flags.port === undefined ? {} : { port: flags.port }),
    step: (what, done) => progress.step(what, done),
  });
  const stopped = interrupted();
  let controller: Controller | undefined;
  let controllerClient: KubeClient | undefined;
  const metrics = processMetrics();
  let endServing: (() => Promise<void>) | undefined;
  let webhook: Webhook | undefined;
  const parts = async (): Promise<number> => {
    await lab.start().catch((error: unknown) => {
      throw laboratoryProblem(flags.port, error);
    });
    const connection = await connectionFromKubeconfig({ path: lab.kubeconfig });
    controllerClient = new KubeClient(new KubeTransport(connection, { connections: 64, userAgent: 'kiln-controller' }), CONTROLLER_LEASE);
    const identity = await laboratory.succeed(directory, lab.client, { namespace: 'kube-system', name: CONTROLLER_LEASE });
    controller = makeController(controllerClient, northboundSession({ ovnNb: lab.ovn.nbEndpoint }, log), log, {
      identity,
      settings,
      metrics,
      subnetLabel: flags.metricsSubnetLabel,
      collectionLimit: false,
    });
    endServing = await serveLaboratory(flags.metricsBindAddress, controller, metrics, log);
    controller.start();
    await progress.step('Kiln: default Vpc, Subnets and nodes', controller.untilQuiet());
    if (flags.webhook) {
      webhook = startWebhook(webhookSettings({ ...LABORATORY_WEBHOOK, webhookClientCa: lab.frontProxyAuthority }, flags.namespace), {
        client: controllerClient,
        connection,
        controller,
        metrics,
        log,
      });
      if (webhook !== undefined) await progress.step('admission webhook', configureWebhook(lab, webhook));
    }
    if (flags.check === true) return check({ lab, controller, progress, webhook: webhook !== undefined });
    if (flags.demo) await progress.step('demo: two tenants with the same networks', applyDemo(lab));
    await controller.untilQuiet();
    introduce(progress, lab, logFile, performance.now() - began, flags.demo);
    const summary = new LiveSummary(controller, process.stderr);
    summary.start();
    await stopped;
    summary.stop();
    progress.say('stopping');
    return 0;
  };
  try {
    return await Promise.race([parts(), stopped.then(() => 130)]);
  } catch (error) {
    tell(redactedText(`kiln start: ${error instanceof Error ? error.message : String(error)}`));
    return error instanceof AddressError ? 2 : 1;
  } finally {
    await webhook?.close();
    await controller?.stop();
    await endServing?.();
    await controllerClient?.close();
    await lab.stop();
    await new Promise((done) => logStream.end(done));
    await release();
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  }
}

const LABORATORY_WEBHOOK: WebhookFlags = {
  webhookBindAddress: '127.0.0.1:0',
  webhookHost: ['127.0.0.1'],
  webhookConfiguration: CONFIGURATION_NAME,
  webhookSecret: SECRET_NAME,
  webhookCertificateLifetime: 90 * 24 * 3_600_000,
  webhookClientNames: [CLIENT_NAME],
  webhookUnknownClients: 'refuse',
};

/** The laboratory's API server reaches it by its address; it is configured once its authority is in place. */
async function configureWebhook({ client }: Laboratory, webhook: Webhook): Promise<void> {
  const url = `https://127.0.0.1:${await webhook.listening()}${WEBHOOK_PATH}`;
  const wanted = webhookConfiguration(
    { url },
    UNIMPLEMENTED_KINDS.map(({ resource }) => resource),
  );
  // One that is kept from an earlier run names that run's port.
  if ((await client.find(WEBHOOK_CONFIGURATIONS, wanted.metadata)) !== undefined)
    await client.delete(WEBHOOK_CONFIGURATIONS, wanted.metadata);
  await client.create(WEBHOOK_CONFIGURATIONS, wanted);
  for (;;) {
    const { webhooks = [] } = await client.get<WebhookConfiguration>(WEBHOOK_CONFIGURATIONS, wanted.metadata);
    if (webhooks.every(({ clientConfig }) => clientConfig.caBundle !== undefined)) return;
    await sleep(20);
  }
}

/** With `--read-only`: what would be written, whenever that changes. */
function sayPlans(controller: Controller, log: Log): NodeJS.Timeout {
  let said: string | undefined;
  return setInterval(() => {
    if (!controller.quiet) return;
    const { rows, objects } = controller.plan();
    const changes = [
      ...rows.map(({ id, verdict }) => `${verdict.kind === 'change' ? verdict.change : verdict.kind} ${id}`),
      ...objects.map(({ verb, resource, namespace, name }) => `${verb} ${resource}/${namespace === '' ? '' : `${namespace}/`}${name}`),
    ];
    const text = changes.join('\n');
    if (text === said) return;
    said = text;
    log.info(changes.length === 0 ? 'plan: nothing to do' : 'plan', {
      rows: rows.length,
      objects: objects.length,
      first: changes.slice(0, 20),
    });
  }, 2_000);
}

async function applyDemo(lab: Laboratory): Promise<void> {
  for (const { resource, object } of demoObjects()) {
    try {
      await lab.client.create(resource, object);
    } catch (error) {
      // Kept from an earlier run.
      if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
  }
}

function introduce(progress: Progress, lab: Laboratory, logFile: string, tookMs: number, demo: boolean): void {
  const pod = demo ? demoPods()[0] : undefined;
  progress.say(
    [
      '',
      `Ready after ${seconds(tookMs)}. In another terminal:`,
      '',
      `  export KUBECONFIG=${lab.kubeconfig} KILN_OVN_NB=${lab.ovn.nbEndpoint} PATH=${BIN}:$PATH`,
      '  kubectl get vpcs,subnets,ips',
      `  kubectl get pods -A -o wide${pod === undefined ? '' : `      # ${pod.namespace}/${pod.name} and its twin in the other tenant have the same network`}`,
      ...(pod === undefined
        ? []
        : [`  ${commandText`kiln explain vpc ${pod.tenant}      # what is in it, down to the pods and the rows in OVN`}`]),
      ...(pod === undefined
        ? []
        : [
            `  ${commandText`kiln delete vpc ${pod.tenant} --cascade      # shows what would go, asks, leaves first; kubectl delete is refused while it is in use`}`,
          ]),
      '  ovn-nbctl --db=$KILN_OVN_NB show',
      '',
      `Not implemented yet (each such object says so): Services, NetworkPolicies, NAT and gateways, underlay networks.`,
      `Log: ${logFile}   Stop: Ctrl-C`,
      '',
    ].join('\n'),
  );
}

function sayWhatIsNotDone(log: Log): void {
  log.info('not implemented yet; each such object gets a condition or an Event', {
    kinds: UNIMPLEMENTED_KINDS.map(({ resource }) => resource).join(', '),
    fields: 'vlan, enableExternal, bfd',
  });
}
