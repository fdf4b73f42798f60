/** `kiln start` without a cluster: a laboratory with a controller and a demo. */
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import type { Controller } from '../../controller/controller.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { Journal } from '../../journal/journal.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { jsonLog } from '../../runtime/json-log.ts';
import type { Log } from '../../runtime/log.ts';
import { openPrivate } from '../../runtime/private-file.ts';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unimplemented-kinds.ts';
import { northboundSession } from '../connection/connect.ts';
import { makeController } from '../connection/make-controller.ts';
import { demoObjects, demoPods } from '../laboratory/demo.ts';
import { CommandFailure, EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import type { Laboratory } from '../laboratory/laboratory.ts';
import { laboratoryPackage } from '../laboratory/laboratory.ts';
import { LiveSummary } from '../output/live-summary.ts';
import type { Progress } from '../output/progress.ts';
import { printErrorText } from '../output/terminal.ts';
import { progressTo, seconds } from '../output/progress.ts';
import { CLIENT_NAME } from '../../webhook/server/client-identity.ts';
import type { Webhook } from '../../webhook/webhook.ts';
import type { WebhookConfiguration } from '../../webhook/manifests/webhook-configuration.ts';
import {
  CONFIGURATION_NAME,
  SECRET_NAME,
  WEBHOOK_CONFIGURATIONS,
  WEBHOOK_PATH,
  webhookConfiguration,
} from '../../webhook/manifests/webhook-configuration.ts';
import type { WebhookFlags } from '../settings/webhook-flags.ts';
import { startWebhook, webhookSettings } from '../settings/webhook-flags.ts';
import { openJournal } from '../process/journal.ts';
import { AddressError, laboratoryProblem, processMetrics, serveLaboratory } from '../process/operations.ts';
import type { Settings } from '../../world/settings.ts';
import { DEFAULT_DIRECTORY, LABORATORY_JOURNAL, LABORATORY_LOG } from '../settings/defaults.ts';
import { check } from './check.ts';
import { commandText } from '../../text/command-text.ts';
import { interrupted } from '../process/interruption.ts';
import type { StartFlags } from '../settings/start-flags.ts';

/** The folder of `kiln` in a clone. */
const BIN = resolve(import.meta.dirname, '../../../bin');

/** @returns the exit code */
export async function runLaboratory(flags: StartFlags, settings: Settings): Promise<number> {
  const laboratory = await laboratoryPackage();
  if (laboratory === undefined) {
    return failed(
      new CommandFailure(
        EXIT.usage,
        'kiln start needs a cluster',
        'this installation does not contain the laboratory',
        'name a cluster: kiln start --kubeconfig FILE --ovn-nb ENDPOINTS, or in a pod kiln start --in-cluster --ovn-nb ENDPOINTS',
      ),
    );
  }
  const noPackets = laboratory.whyNoPackets();
  if (flags.packets === true && noPackets !== undefined)
    return failed(
      new CommandFailure(
        EXIT.usage,
        'nodes with packets cannot run here',
        noPackets,
        'kiln start, without --packets: nothing is sent then',
      ),
    );
  const progress = progressTo(process.stderr);
  const began = performance.now();
  // A check must not disturb a running laboratory: by default it uses its own folder.
  const own =
    flags.check === true && flags.directory === DEFAULT_DIRECTORY ? await laboratory.makeTemporaryFolder('kiln-check-') : undefined;
  const directory = own ?? resolve(flags.directory);
  let release: () => Promise<void>;
  try {
    await laboratory.makeDirectory(directory);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed(new CommandFailure(EXIT.usage, `--directory ${directory} cannot be made`, why, OTHER_DIRECTORY));
  }
  try {
    release = await laboratory.claimDirectory(directory);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed(new CommandFailure(EXIT.findings, `--directory ${directory} cannot be used`, why, OTHER_DIRECTORY));
  }
  const logFile = join(directory, LABORATORY_LOG);
  // The log contains names of all tenants, so other users cannot read it.
  const logStream = createWriteStream(logFile, { fd: openPrivate(logFile, 'w') });
  const log = jsonLog(flags.logLevel, (line) => void logStream.write(`${line}\n`));
  const lab = new laboratory.Laboratory({
    directory,
    nodes: flags.nodes,
    // A check proves by packets as well wherever it can.
    packets: flags.packets === true || (flags.check === true && noPackets === undefined),
    keep: flags.keep === true,
    log,
    ...(flags.port === undefined ? {} : { port: flags.port }),
    step: (what, done) => progress.step(what, done),
  });
  const stopped = interrupted();
  let controller: Controller | undefined;
  let controllerClient: KubeClient | undefined;
  let journal: Journal | undefined;
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
    journal = await laboratoryJournal(flags, directory, log);
    controller = makeController(controllerClient, northboundSession({ ovnNb: lab.ovn.nbEndpoint }, log), log, {
      identity,
      settings,
      journal,
      metrics,
      subnetLabel: flags.metricsSubnetLabel,
      collectionLimit: false,
    });
    endServing = await serveLaboratory(flags.metricsBindAddress, controller, metrics, log);
    controller.start();
    await progress.step('Kiln: default Vpc, Subnets and nodes', controller.untilQuiet());
    if (flags.webhook) {
      webhook = startWebhook(
        webhookSettings(
          { ...LABORATORY_WEBHOOK, webhookDeletionInUse: flags.webhookDeletionInUse, webhookClientCa: lab.frontProxyAuthority },
          flags.namespace,
        ),
        {
          client: controllerClient,
          connection,
          controller,
          metrics,
          log,
        },
      );
      if (webhook !== undefined) await progress.step('admission webhook', configureWebhook(lab, webhook));
    }
    if (flags.check === true) return check({ lab, controller, progress, webhook: webhook !== undefined });
    if (flags.demo) await progress.step('demo: two tenants with the same networks', applyDemo(lab));
    await controller.untilQuiet();
    introduce(progress, lab, flags.journal ?? join(directory, LABORATORY_JOURNAL), logFile, performance.now() - began, flags.demo);
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
    const why = error instanceof Error ? error.message : String(error);
    const [exit, next] = error instanceof AddressError ? [EXIT.usage, 'kiln start --help'] : [EXIT.findings, commandText`tail ${logFile}`];
    return failed(isKubeError(error) ? failureOf(error, 'start') : new CommandFailure(exit, 'the laboratory did not start', why, next));
  } finally {
    await webhook?.close();
    await controller?.stop();
    await journal?.close();
    await endServing?.();
    await controllerClient?.close();
    await lab.stop();
    await new Promise((done) => logStream.end(done));
    await release();
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  }
}

/** By default in the laboratory's folder. A laboratory that starts anew has a new database, which old entries know nothing of. */
async function laboratoryJournal(flags: StartFlags, directory: string, log: Log): Promise<Journal> {
  if (flags.journal !== undefined) return openJournal(flags, log);
  const own = join(directory, LABORATORY_JOURNAL);
  if (flags.keep !== true) await rm(own, { recursive: true, force: true });
  return openJournal({ ...flags, journal: own }, log);
}

const OTHER_DIRECTORY = 'kiln start --directory ANOTHER';

/** Prints the failure. @returns its exit code */
function failed(failure: CommandFailure): number {
  printErrorText(failureText(failure));
  return failure.exit;
}

const LABORATORY_WEBHOOK: Omit<WebhookFlags, 'webhookDeletionInUse'> = {
  webhookBindAddress: '127.0.0.1:0',
  webhookHost: ['127.0.0.1'],
  webhookConfiguration: CONFIGURATION_NAME,
  webhookSecret: SECRET_NAME,
  webhookCertificateLifetime: 90 * 24 * 3_600_000,
  webhookClientNames: [CLIENT_NAME],
  webhookUnknownClients: 'refuse',
};

/** The laboratory's API server reaches the webhook by its address. It is configured once the webhook has a certificate authority. */
async function configureWebhook({ client }: Laboratory, webhook: Webhook): Promise<void> {
  const url = `https://127.0.0.1:${await webhook.listening()}${WEBHOOK_PATH}`;
  const wanted = webhookConfiguration(
    { url },
    UNIMPLEMENTED_KINDS.map(({ resource }) => resource),
  );
  // A configuration kept from an earlier run has the port of that run.
  if ((await client.find(WEBHOOK_CONFIGURATIONS, wanted.metadata)) !== undefined)
    await client.delete(WEBHOOK_CONFIGURATIONS, wanted.metadata);
  await client.create(WEBHOOK_CONFIGURATIONS, wanted);
  for (;;) {
    const { webhooks = [] } = await client.get<WebhookConfiguration>(WEBHOOK_CONFIGURATIONS, wanted.metadata);
    if (webhooks.every(({ clientConfig }) => clientConfig.caBundle !== undefined)) return;
    await sleep(20);
  }
}

async function applyDemo(lab: Laboratory): Promise<void> {
  for (const { resource, object } of demoObjects()) {
    try {
      await lab.client.create(resource, object);
    } catch (error) {
      // The object remains from an earlier run.
      if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
  }
}

function introduce(progress: Progress, lab: Laboratory, journal: string, logFile: string, tookMs: number, demo: boolean): void {
  const pod = demo ? demoPods()[0] : undefined;
  progress.say(
    [
      '',
      `Ready after ${seconds(tookMs)}. In another terminal:`,
      '',
      `  export KUBECONFIG=${lab.kubeconfig} KILN_OVN_NB=${lab.ovn.nbEndpoint} KILN_JOURNAL=${journal} OVN_NB_DB=${lab.ovn.nbEndpoint} PATH=${BIN}:$PATH`,
      '  kubectl get vpcs,subnets,ips',
      `  kubectl get pods -A -o wide${pod === undefined ? '' : `      # ${pod.namespace}/${pod.name} and its twin in the other tenant have the same network`}`,
      ...(pod === undefined
        ? []
        : [`  ${commandText`kiln explain vpc ${pod.tenant}      # its dependents, down to the pods, and its rows in OVN`}`]),
      ...(pod === undefined
        ? []
        : [
            `  ${commandText`kiln delete vpc ${pod.tenant} --cascade      # prints the plan and asks; dependents first, while kubectl delete waits for them`}`,
          ]),
      '  ovn-nbctl show',
      ...(lab.packets === undefined || pod === undefined
        ? []
        : [
            `  ${commandText`kiln lab exec ${pod.namespace}/${pod.name} -- ping -c 3 ${pod.gateway}      # or the address of another pod`}`,
          ]),
      '',
      `Not implemented yet (reported on each such object): Services, NetworkPolicies, SecurityGroups, NAT of iptables.`,
      `Log: ${logFile}   Stop: Ctrl-C`,
      '',
    ].join('\n'),
  );
}
