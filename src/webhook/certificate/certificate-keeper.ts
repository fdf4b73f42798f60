/**
 * Keeps the webhook's certificate in one Secret that all replicas share, and its authorities in the ValidatingWebhookConfiguration. Kiln
 * watches both, so it follows a change by another replica or by a user at once. Each write names the resourceVersion that it is based on:
 * if two replicas write, one succeeds and the other uses that result. The manifests contain the Secret without data, since only an
 * administrator may create Secrets.
 */
import type { Credential } from '../../certificates/authority.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { systemClock } from '../../timing/clock.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { isKubeError } from '../../kube/errors.ts';
import { ListWatchCache } from '../../kube/cache/list-watch-cache.ts';
import type { CacheEvent } from '../../kube/cache/list-watch-options.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import type { Log } from '../../runtime/log.ts';
import type { CertificateData, CertificatePlan } from './certificate-plan.ts';
import { certificatesIn, isTrusted, planCertificate } from './certificate-plan.ts';
import type { WebhookConfiguration } from '../manifests/webhook-configuration.ts';
import { webhooksBlockingPods, WEBHOOK_CONFIGURATIONS } from '../manifests/webhook-configuration.ts';
import { commandText } from '../../text/command-text.ts';

const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
/** If one of these annotations is set, cert-manager writes the bundle. */
const INJECTED = ['cert-manager.io/inject-ca-from', 'cert-manager.io/inject-ca-from-secret', 'cert-manager.io/inject-apiserver-ca'];
const RETRY_MS = 5_000;
/** Kiln notices a change of the wall clock within this time. */
const LONGEST_WAIT_MS = 60_000;
/** Replicas with different clocks can each find the other's certificate unfit. This bounds how often they replace it. */
const REPLACE_AGAIN_MS = 60_000;

/** Errors of an API server that is not reachable: the controller reports this once for all its clients. */
const AWAY: readonly KubeErrorCode[] = [
  'KUBE_UNREACHABLE',
  'KUBE_DISCONNECTED',
  'KUBE_TIMEOUT',
  'KUBE_UNAVAILABLE',
  'KUBE_TOO_MANY_REQUESTS',
];

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface CertificateKeeperOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Name of the Secret. */
  readonly secret: string;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  readonly hosts: readonly string[];
  readonly lifetimeMs: number;
  readonly log: Log;
  /** Called with each certificate to serve. */
  readonly use: (credential: Credential) => void;
  readonly clock?: Clock;
}

export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  readonly #clock: Clock;
  readonly #secrets: ListWatchCache<Secret>;
  readonly #configurations: ListWatchCache<WebhookConfiguration>;
  #served = '';
  #busy = false;
  #again = false;
  #closed = false;
  #loggedError = '';
  /** The certificate for which the distrust of the API server was last reported. */
  #distrusted = '';
  /** The webhooks for which it was last reported that they block every pod. */
  #loggedBlockedPods = '';
  /** The bundle last seen complete in the configuration, and since when. */
  #published: { readonly bundle: string; readonly since: number } | undefined;
  /** When this replica last replaced an unfit certificate. */
  #replacedAt = -Infinity;
  #timer: TimerHandle;

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    const { client, namespace, secret, configuration } = options;
    const onCacheEvent = (event: CacheEvent): void => {
      if (event.kind === 'failure') this.#logError(event.error);
    };
    this.#secrets = new ListWatchCache<Secret>({
      client,
      resource: SECRETS,
      namespace,
      fieldSelector: `metadata.name=${secret}`,
      clock,
      onCacheEvent,
    });
    this.#configurations = new ListWatchCache<WebhookConfiguration>({
      client,
      resource: WEBHOOK_CONFIGURATIONS,
      fieldSelector: `metadata.name=${configuration}`,
      clock,
      onCacheEvent,
    });
    for (const cache of [this.#secrets, this.#configurations]) {
      cache.onDelta(() => this.#check());
      cache.onState(() => this.#check());
    }
  }

  start(): void {
    this.#secrets.start();
    this.#configurations.start();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
    await Promise.all([this.#secrets.close(), this.#configurations.close()]);
  }

  /** One check at a time; a change during a check starts another one. */
  #check(): void {
    if (this.#closed || !this.#secrets.ready) return;
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    this.#again = false;
    this.#clock.clearTimeout(this.#timer);
    this.#step().then(
      (wait) => this.#schedule(wait),
      (error: unknown) => {
        this.#logError(error);
        // No watch reports a granted right. Rights are seldom granted, so Kiln checks seldom.
        this.#schedule(isKubeError(error, 'KUBE_FORBIDDEN') ? LONGEST_WAIT_MS : RETRY_MS);
      },
    );
  }

  #schedule(wait: number): void {
    this.#busy = false;
    if (this.#closed) return;
    if (this.#again) this.#check();
    else this.#timer = this.#clock.setTimeout(() => this.#check(), Math.min(Math.max(wait, 100), LONGEST_WAIT_MS));
  }

  /** @returns milliseconds until the next check if nothing changes */
  async #step(): Promise<number> {
    const { namespace, secret: name, hosts, lifetimeMs } = this.#options;
    const secret = this.#secrets.get(`${namespace}/${name}`);
    const now = this.#clock.wallTime();
    // In the manifest the Secret is empty.
    const data = Object.keys(secret?.data ?? {}).length === 0 ? undefined : decoded(secret ?? {});
    const plan = planCertificate(now, data, hosts, { lifetimeMs }, this.#publishedSince(data?.['ca.crt'], now));
    if (plan.kind === 'write') {
      if (plan.why === 'unfit') {
        const early = this.#replacedAt + Math.min(REPLACE_AGAIN_MS, lifetimeMs / 3) - this.#clock.now();
        if (early > 0) return early;
      }
      await this.#write(plan, secret);
      return RETRY_MS;
    }
    if (this.#served !== plan.credential.certificate) {
      this.#served = plan.credential.certificate;
      this.#options.use(plan.credential);
    }
    await this.#publish(plan.bundle);
    this.#logDistrust(plan.credential.certificate);
    this.#logBlockedPods();
    this.#loggedError = '';
    return plan.until - now;
  }

  async #write(plan: Extract<CertificatePlan, { kind: 'write' }>, secret: Secret | undefined): Promise<void> {
    const { client, namespace, secret: name, log } = this.#options;
    const data = encoded(plan.data);
    try {
      const written =
        secret === undefined
          ? await client.create<Secret & { readonly type: string }>(SECRETS, {
              metadata: { namespace, name },
              type: 'kubernetes.io/tls',
              data,
            })
          : await client.update<Secret>(SECRETS, { ...secret, data });
      log.info('webhook certificate', { step: plan.why, kept: `Secret ${namespace}/${name}` });
      if (plan.why === 'unfit') this.#replacedAt = this.#clock.now();
      this.#secrets.applyOwn(written);
      this.#again = true;
    } catch (error) {
      // Another replica wrote first: the watch brings its version.
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    }
  }

  /** Since when the configuration has all authorities of the bundle; undefined while it does not. */
  #publishedSince(bundle: string | undefined, now: number): number | undefined {
    const configuration = this.#configurations.get(this.#options.configuration);
    const shown = configuration?.webhooks?.every(({ clientConfig }) => clientConfig.caBundle === base64(bundle ?? '')) === true;
    if (bundle === undefined || !shown) this.#published = undefined;
    else if (this.#published?.bundle !== bundle) this.#published = { bundle, since: now };
    return this.#published?.since;
  }

  /** Writes the bundle into the configuration, unless it does not exist or cert-manager manages it. */
  async #publish(bundle: string): Promise<void> {
    const { client, configuration: name, log } = this.#options;
    const configuration = this.#configurations.get(name);
    if (configuration === undefined || injectedBy(configuration) !== undefined) return;
    const expected = base64(bundle);
    const outdated = (configuration.webhooks ?? []).flatMap(({ clientConfig }, at) => (clientConfig.caBundle === expected ? [] : [at]));
    if (outdated.length === 0) return;
    try {
      const written = await client.jsonPatch<WebhookConfiguration>(WEBHOOK_CONFIGURATIONS, { name }, [
        { op: 'test', path: '/metadata/resourceVersion', value: configuration.metadata.resourceVersion },
        ...outdated.map((at) => ({ op: 'add', path: `/webhooks/${at}/clientConfig/caBundle`, value: expected }) as const),
      ]);
      log.info('webhook authorities published', { configuration: name, authorities: certificatesIn(bundle).length });
      this.#configurations.applyOwn(written);
      this.#again = true;
    } catch (error) {
      // The configuration changed meanwhile: the watch brings its new version.
      if (!['KUBE_CONFLICT', 'KUBE_INVALID', 'KUBE_NOT_FOUND'].some((code) => isKubeError(error, code as 'KUBE_CONFLICT'))) throw error;
    }
  }

  /**
   * Warns if the configuration has other authorities: the API server then rejects the webhook's certificate silently and continues without
   * the webhook.
   */
  #logDistrust(certificate: string): void {
    const { configuration: name, log } = this.#options;
    const configuration = this.#configurations.get(name);
    const annotation = configuration === undefined ? undefined : injectedBy(configuration);
    const trusted = configuration?.webhooks?.every(({ clientConfig }) =>
      isTrusted(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString('utf8'), certificate),
    );
    if (annotation === undefined || trusted === true) {
      this.#distrusted = '';
      return;
    }
    if (this.#distrusted === certificate) return;
    this.#distrusted = certificate;
    log.warn('the API server does not trust the certificate of the webhook', {
      error: `ValidatingWebhookConfiguration ${name} has annotation ${annotation}, so Kiln does not write its caBundle, and no authority in it signed Kiln's certificate`,
      next: `name cert-manager's files (--webhook-cert, --webhook-key), or ${commandText`kubectl annotate validatingwebhookconfiguration ${name} ${annotation}-`}`,
    });
  }

  /**
   * Warns if a configuration with `failurePolicy: Fail` blocks every pod, also those of the webhook itself. `Fail` is the user's choice and
   * stays; but the user would notice this consequence too late.
   */
  #logBlockedPods(): void {
    const { configuration: name, log } = this.#options;
    const configuration = this.#configurations.get(name);
    const closed = configuration === undefined ? '' : webhooksBlockingPods(configuration).join(', ');
    if (closed !== '' && closed !== this.#loggedBlockedPods)
      log.warn('no pod can be created while the webhook does not answer, and so no replica of Kiln either', {
        error: `ValidatingWebhookConfiguration ${name}: ${closed} has failurePolicy Fail for every pod, also those of this controller`,
        next: commandText`kubectl edit validatingwebhookconfiguration ${name}: set it to Ignore, or exclude the controller's namespace with a namespaceSelector`,
      });
    this.#loggedBlockedPods = closed;
  }

  #logError(error: unknown): void {
    if (isKubeError(error) && AWAY.includes(error.code)) return;
    const text = error instanceof Error ? error.message : String(error);
    if (text === this.#loggedError) return;
    this.#loggedError = text;
    const { namespace, secret, log } = this.#options;
    const apply = 'kubectl apply -f deploy/webhook.yaml';
    // A Secret marked as immutable rejects every change.
    const next = isKubeError(error, 'KUBE_INVALID')
      ? `${commandText`kubectl -n ${namespace} delete secret ${secret}`}, then ${apply}`
      : `${apply} makes the empty Secret ${namespace}/${secret} and grants the rights to it`;
    log.warn('the certificate of the webhook cannot be stored', {
      error: text,
      next: `the webhook serves its present certificate, if any; ${next}`,
    });
  }
}

/** The value of the annotation that makes cert-manager write the bundle. */
function injectedBy(configuration: WebhookConfiguration): string | undefined {
  const { annotations = {} } = configuration.metadata as { readonly annotations?: Readonly<Record<string, string>> };
  return INJECTED.find((name) => annotations[name] !== undefined);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function decoded({ data = {} }: Pick<Secret, 'data'>): Partial<CertificateData> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}

function encoded(data: CertificateData): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value as string)]));
}
