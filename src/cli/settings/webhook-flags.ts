/** The flags of the admission webhook, checked before anything starts, and the resulting settings. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import type { Controller } from '../../controller/controller.ts';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unimplemented-kinds.ts';
import type { Untrimmed } from '../../world/trim.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Connection } from '../../kube/transport/connection.ts';
import { splitList } from '../../net/dual.ts';
import { parseAddress } from '../../net/address.ts';
import type { Log } from '../../runtime/log.ts';
import type { Labels, Metrics } from '../../runtime/metrics.ts';
import { parseBindAddress } from '../../runtime/operations-server.ts';
import type { AdmissionRequest } from '../../webhook/protocol/admission-review.ts';
import { resourceOf } from '../../webhook/review/validate-request.ts';
import type { AdmissionResult } from '../../webhook/protocol/admission-result.ts';
import type { UnknownClients } from '../../webhook/server/client-identity.ts';
import type { DeletionInUse } from '../../webhook/kinds/deletion.ts';
import { DELETIONS_IN_USE } from '../../webhook/kinds/deletion.ts';
import { CLIENT_NAME, UNKNOWN_CLIENTS } from '../../webhook/server/client-identity.ts';
import type { CertificateSource, ClientSettings } from '../../webhook/webhook.ts';
import { Webhook } from '../../webhook/webhook.ts';
import { CONFIGURATION_NAME, SECRET_NAME, SERVICE_NAME } from '../../webhook/manifests/webhook-configuration.ts';
import { objectName } from '../arguments/name-arguments.ts';

export interface WebhookFlags {
  readonly webhookBindAddress: string;
  readonly webhookHost?: readonly string[];
  readonly webhookConfiguration: string;
  readonly webhookSecret: string;
  /** Milliseconds. */
  readonly webhookCertificateLifetime: number;
  readonly webhookOwnUser?: string;
  readonly webhookCert?: string;
  readonly webhookKey?: string;
  readonly webhookClientCa?: string;
  readonly webhookClientNames: readonly string[];
  readonly webhookUnknownClients: UnknownClients;
  readonly webhookDeletionInUse: DeletionInUse;
}

/** An API server might not see a certificate of a shorter lifetime before its rotation. */
const SHORTEST_LIFETIME_MS = 10_000;

function bindAddress(text: string): string {
  if (text !== 'off' && parseBindAddress(text) === undefined)
    throw new InvalidArgumentError(`"${text}" is neither HOST:PORT, such as 0.0.0.0:10671, nor :PORT, nor off.`);
  return text;
}

function hosts(text: string): readonly string[] {
  const items = splitList(text);
  const bad = items.find((item) => parseAddress(item) === undefined && !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(item));
  if (items.length === 0 || bad !== undefined) throw new InvalidArgumentError(`"${bad ?? text}" is neither a DNS name nor an address.`);
  return items;
}

function commonNames(text: string): readonly string[] {
  const items = splitList(text);
  if (items.length === 0) throw new InvalidArgumentError(`"${text}" names no client.`);
  return items;
}

function lifetime(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined || duration < SHORTEST_LIFETIME_MS)
    throw new InvalidArgumentError(`"${text}" is not a duration of at least 10s, such as 24h, 90m or 7d.`);
  return duration;
}

export function addWebhookFlags(command: Command): Command {
  return command
    .option(
      '--webhook-bind-address <address>',
      'serve the admission webhook here: HOST:PORT, :PORT for every address, or off',
      bindAddress,
      'off',
    )
    .option(
      '--webhook-host <names>',
      `names and addresses by which the API server reaches the webhook, separated by commas (default: ${SERVICE_NAME}.<namespace>.svc)`,
      hosts,
    )
    .option(
      '--webhook-configuration <name>',
      'ValidatingWebhookConfiguration whose caBundle Kiln maintains',
      objectName,
      CONFIGURATION_NAME,
    )
    .option('--webhook-secret <name>', 'Secret with the certificate, shared by all replicas', objectName, SECRET_NAME)
    .addOption(
      new Option('--webhook-certificate-lifetime <duration>', 'validity of the certificate; it is rotated when a third is left')
        .argParser(lifetime)
        .default(lifetime('90d'), '90d'),
    )
    .option(
      '--webhook-own-user <name>',
      'user name of this controller at the API server, to recognise its own writes (default: asked from the API server)',
    )
    .option('--webhook-cert <file>', 'certificate from a file rather than made by Kiln; read again when it changes')
    .option('--webhook-key <file>', 'private key of that certificate; read again when it changes')
    .option('--webhook-client-ca <file>', "CA certificates for the API server's client certificate; read again when the file changes")
    .option(
      '--webhook-client-names <names>',
      'common names of that client certificate, separated by commas',
      commonNames,
      commonNames(CLIENT_NAME),
    )
    .addOption(
      new Option('--webhook-unknown-clients <what>', 'clients without such a certificate: answer without names of other objects, or refuse')
        .choices([...UNKNOWN_CLIENTS])
        .default('answer' satisfies UnknownClients),
    )
    .addOption(
      new Option(
        '--webhook-deletion-in-use <what>',
        'deletion of an object that others still use: let it wait for them, with a warning, or deny it',
      )
        .choices([...DELETIONS_IN_USE])
        .default('wait' satisfies DeletionInUse),
    )
    .option('--no-webhook', 'start the laboratory without the admission webhook');
}

export type WebhookSettings =
  | {
      readonly ok: true;
      readonly host: string | undefined;
      readonly port: number;
      readonly certificate: CertificateSource;
      readonly deletionInUse: DeletionInUse;
      readonly clients?: ClientSettings;
      readonly ownUser?: string;
    }
  /** The webhook is turned off. */
  | { readonly ok: true; readonly port: undefined }
  | { readonly ok: false; readonly problem: string };

export function webhookSettings(flags: WebhookFlags, namespace: string): WebhookSettings {
  const { webhookBindAddress: bind, webhookCert: certificateFile, webhookKey: keyFile } = flags;
  if ((certificateFile === undefined) !== (keyFile === undefined))
    return { ok: false, problem: '--webhook-cert and --webhook-key go together: give both, or neither to have a certificate made' };
  if (flags.webhookUnknownClients === 'refuse' && flags.webhookClientCa === undefined)
    return { ok: false, problem: '--webhook-unknown-clients=refuse needs --webhook-client-ca as well: without it every client is unknown' };
  const address = bind === 'off' ? undefined : parseBindAddress(bind);
  if (address === undefined) {
    return certificateFile === undefined
      ? { ok: true, port: undefined }
      : { ok: false, problem: '--webhook-cert needs --webhook-bind-address as well, such as --webhook-bind-address=:10671' };
  }
  const certificate: CertificateSource =
    certificateFile !== undefined && keyFile !== undefined
      ? { kind: 'files', certificateFile, keyFile }
      : {
          kind: 'own',
          namespace,
          secret: flags.webhookSecret,
          configuration: flags.webhookConfiguration,
          hosts: flags.webhookHost ?? [`${SERVICE_NAME}.${namespace}.svc`],
          lifetimeMs: flags.webhookCertificateLifetime,
        };
  const { webhookClientCa: authorityFile, webhookClientNames: names, webhookUnknownClients: unknown } = flags;
  return {
    ok: true,
    ...address,
    certificate,
    deletionInUse: flags.webhookDeletionInUse,
    ...(authorityFile !== undefined && { clients: { authorityFile, names, unknown } }),
    ...(flags.webhookOwnUser !== undefined && { ownUser: flags.webhookOwnUser }),
  };
}

export interface WebhookParts {
  readonly client: KubeClient;
  /** The connection of the Kubernetes client. */
  readonly connection: Connection;
  readonly controller: Controller;
  readonly metrics: Metrics;
  readonly log: Log;
  /** The clock for the validity of certificates. */
  readonly clock?: Clock;
}

/**
 * Starts the webhook if the settings turn it on.
 * @returns undefined if it is turned off
 * @throws Error if certificate files are configured and cannot be used; its message is for the user
 */
export function startWebhook(
  settings: WebhookSettings,
  { client, connection, controller, metrics, log, clock }: WebhookParts,
): Webhook | undefined {
  if (!settings.ok || settings.port === undefined) return undefined;
  const webhook = new Webhook({
    client,
    ownUser: { connection, ...(settings.ownUser !== undefined && { given: settings.ownUser }) },
    observed: controller,
    unimplemented: (resource, object) =>
      UNIMPLEMENTED_KINDS.find((kind) => kind.resource === resource)?.feature(object as unknown as Untrimmed),
    host: settings.host,
    port: settings.port,
    certificate: settings.certificate,
    deletionInUse: settings.deletionInUse,
    clients: settings.clients,
    log,
    unserved: (why) => metrics.count('kiln_webhook_refusals_total', { why }),
    ...(clock !== undefined && { clock }),
    answered: (request, result) => metrics.count('kiln_webhook_reviews_total', reviewLabels(request, result)),
  });
  webhook.start();
  return webhook;
}

/** Any client that reaches the port can name any resource: all unknown ones share one label. */
export function reviewLabels(
  { operation, resource, group }: Pick<AdmissionRequest, 'operation' | 'resource' | 'group'>,
  { denials, warnings }: AdmissionResult,
): Labels<'kiln_webhook_reviews_total'> {
  return {
    operation: operation.toLowerCase(),
    resource: resourceOf({ resource, group }) ?? 'other',
    result: denials.length > 0 ? 'refused' : warnings.length > 0 ? 'warned' : 'allowed',
  };
}
