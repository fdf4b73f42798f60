/** Connects the parts of the webhook: the source of the certificate, and a server once there is a certificate. */
import type { Credential } from '../certificates/authority.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { Clock, TimerHandle } from '../timing/clock.ts';
import { systemClock } from '../timing/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ResourceName } from '../world/resources.ts';
import type { AdmissionRequest, ReviewedObject } from './protocol/admission-review.ts';
import { CertificateFiles, certificateFilesIfThere } from './certificate/certificate-files.ts';
import { CertificateKeeper } from './certificate/certificate-keeper.ts';
import { ClientAuthorityFile } from './server/client-authority-file.ts';
import type { UnknownClients } from './server/client-identity.ts';
import type { DeletionInUse } from './kinds/deletion.ts';
import type { Observed, AdmissionResult } from './protocol/admission-result.ts';
import { OwnUser } from './review/own-user.ts';
import type { OwnUserOptions } from './review/own-user.ts';
import { Reviews } from './review/reviews.ts';
import type { UnservedReason } from './server/webhook-server.ts';
import { WebhookServer } from './server/webhook-server.ts';

export type CertificateSource =
  | {
      readonly kind: 'own';
      readonly namespace: string;
      readonly secret: string;
      readonly configuration: string;
      /** DNS names and addresses under which the API server reaches the webhook. */
      readonly hosts: readonly string[];
      readonly lifetimeMs: number;
    }
  | { readonly kind: 'files'; readonly certificateFile: string; readonly keyFile: string };

/** How the webhook recognises the API server. */
export interface ClientSettings {
  /** PEM file of the authorities of the API server's client certificate. */
  readonly authorityFile: string;
  /** Allowed common names of that certificate. */
  readonly names: readonly string[];
  readonly unknown: UnknownClients;
}

export interface WebhookOptions {
  readonly client: KubeClient;
  readonly observed: Observed;
  /** What Kiln does not implement for an object of a kind that it only observes. */
  readonly unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined;
  /** What becomes of the deletion of an object in use. */
  readonly deletionInUse: DeletionInUse;
  readonly host: string | undefined;
  /** 0: a free port. */
  readonly port: number;
  readonly certificate: CertificateSource;
  /** Undefined: every client is unknown, and gets answers. */
  readonly clients?: ClientSettings | undefined;
  /** How to learn the controller's own user name. */
  readonly ownUser: Pick<OwnUserOptions, 'connection' | 'given'>;
  readonly log: Log;
  readonly answered?: (request: AdmissionRequest, result: AdmissionResult) => void;
  readonly unserved?: (why: UnservedReason) => void;
  readonly clock?: Clock;
}

/** If another process still uses the port, Kiln tries again after this time; meanwhile everything works without the webhook. */
const LISTEN_AGAIN_MS = 5_000;

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #clock: Clock;
  readonly #reviews: Reviews;
  readonly #ownUser: OwnUser;
  readonly #waiting: ((port: number) => void)[] = [];
  #keeper: CertificateKeeper | undefined;
  #files: CertificateFiles | undefined;
  #authorities: ClientAuthorityFile | undefined;
  #credential: Credential | undefined;
  #server: Promise<WebhookServer> | undefined;
  #port: number | undefined;
  #closed = false;
  #timer: TimerHandle;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { client, log, ownUser } = options;
    this.#ownUser = new OwnUser({ client, log, ...ownUser });
    this.#reviews = new Reviews({
      ...options,
      ownUser: () => this.#ownUser.name,
      clientsProve: options.clients !== undefined,
      now: () => this.#clock.now(),
    });
  }

  /** @throws Error if certificate files are configured and cannot be used; its message is for the user */
  start(): void {
    const { certificate, client, clients, log } = this.#options;
    if (clients !== undefined)
      this.#authorities = new ClientAuthorityFile({ file: clients.authorityFile, use: (pem) => this.#trust(pem), log, clock: this.#clock });
    this.#ownUser.start();
    const use = (credential: Credential): void => this.#use(credential);
    if (certificate.kind === 'own') {
      this.#keeper = new CertificateKeeper({ ...certificate, client, log, use, clock: this.#clock });
      this.#keeper.start();
      return;
    }
    const first = certificateFilesIfThere(certificate.certificateFile, certificate.keyFile);
    if (first !== undefined) use(first);
    this.#files = new CertificateFiles({ ...certificate, first, log, use, clock: this.#clock });
  }

  /** Resolves with the port once the server listens. */
  listening(): Promise<number> {
    return new Promise((resolve) => {
      if (this.#port === undefined) this.#waiting.push(resolve);
      else resolve(this.#port);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
    this.#files?.close();
    this.#authorities?.close();
    this.#ownUser.close();
    await this.#keeper?.close();
    await this.#server?.then(
      (server) => server.close(),
      () => undefined,
    );
  }

  #trust(authorities: string | undefined): void {
    void this.#server?.then(
      (server) => server.trust(authorities),
      () => undefined,
    );
  }

  #use(credential: Credential): void {
    this.#credential = credential;
    if (this.#server !== undefined) {
      void this.#server.then(
        (server) => server.use(credential),
        () => undefined,
      );
      return;
    }
    const { host, port, log, answered, unserved, clients } = this.#options;
    this.#server = WebhookServer.start({
      host,
      port,
      credential,
      ...(clients !== undefined && { clients: { ...clients, authorities: this.#authorities?.authorities } }),
      review: (request, proven) => this.#reviews.review(request, proven),
      log,
      ...(answered !== undefined && { answered }),
      ...(unserved !== undefined && { unserved }),
    });
    this.#server.then(
      (server) => {
        this.#port = server.port;
        log.info('webhook serves', { port: server.port });
        for (const resolve of this.#waiting.splice(0)) resolve(server.port);
      },
      (error: unknown) => {
        this.#server = undefined;
        log.warn('the webhook cannot listen; Kiln retries', { port, error: error instanceof Error ? error.message : String(error) });
        if (!this.#closed) this.#timer = this.#clock.setTimeout(() => this.#use(this.#credential ?? credential), LISTEN_AGAIN_MS);
      },
    );
  }
}
