/**
 * Learns the user name under which the API server knows this process; by it the webhook recognises the controller's own writes. Kiln asks
 * with a SelfSubjectReview. API servers before 1.28 do not have it; then Kiln derives the name from its credentials.
 */
import { X509Certificate } from 'node:crypto';
import type { KubeClient } from '../../kube/client/client.ts';
import { subjectOf } from '../../kube/client/client.ts';
import { type Clock, sleep, systemClock } from '../../timing/clock.ts';
import type { Connection, Credentials } from '../../kube/transport/connection.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { Resource } from '../../kube/resource.ts';
import { apiVersionOf, collectionPath } from '../../kube/resource.ts';
import type { Log } from '../../runtime/log.ts';

const RETRY_MS = 5_000;

interface UserInfo {
  readonly username?: string;
}

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: UserInfo };
}

interface TokenReview {
  readonly status?: { readonly authenticated?: boolean; readonly user?: UserInfo };
}

function reviews(version: string): Resource {
  return { group: 'authentication.k8s.io', version, plural: 'selfsubjectreviews', kind: 'SelfSubjectReview', namespaced: false };
}

const TOKEN_REVIEWS: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
};

export interface OwnUserOptions {
  readonly client: KubeClient;
  readonly connection: Connection;
  /** The name that the operator configured: then Kiln sends no review. */
  readonly given?: string | undefined;
  readonly log: Log;
  readonly clock?: Clock;
}

export class OwnUser {
  readonly #options: OwnUserOptions;
  readonly #stop = new AbortController();
  #name: string | undefined;

  constructor(options: OwnUserOptions) {
    this.#options = options;
    this.#name = options.given;
  }

  /** Undefined until it is known. */
  get name(): string | undefined {
    return this.#name;
  }

  start(): void {
    if (this.#name === undefined) void this.#learn();
  }

  close(): void {
    this.#stop.abort();
  }

  async #learn(): Promise<void> {
    const { client, connection, log, clock = systemClock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const fromServer = await userFromServer(client, signal);
        if (fromServer === undefined) {
          const credentials = await connection.credentials(false);
          this.#name = userOfCredentials(credentials) ?? (await userOfToken(client, credentials, signal));
        } else this.#name = fromServer;
        if (this.#name === undefined)
          log.warn('the webhook cannot determine the user name of this controller, and validates its writes like those of any client', {
            next: 'set --webhook-own-user',
          });
        else
          log.info('the webhook determined the user name of this controller', {
            user: this.#name,
            from: fromServer === undefined ? 'credentials' : 'API server',
          });
        return;
      } catch {
        // The API server is not reachable; the controller reports that.
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }
}

/**
 * @returns undefined if the API server does not know the name
 * @throws KubeError
 */
async function userFromServer(client: KubeClient, signal: AbortSignal): Promise<string | undefined> {
  for (const version of ['v1', 'v1beta1']) {
    const name = await unlessUnavailable(async () => {
      const { status } = (await ask(client, reviews(version), {}, signal)) as SelfSubjectReview;
      return status?.userInfo?.username;
    });
    if (name !== undefined && name !== '') return name;
  }
  return undefined;
}

/** The user of a token that only the API server can read. A TokenReview needs a right, which administrators have. */
async function userOfToken(client: KubeClient, { headers }: Credentials, signal: AbortSignal): Promise<string | undefined> {
  const [, token] = /^Bearer (.+)$/.exec(headers['authorization'] ?? '') ?? [];
  if (token === undefined) return undefined;
  return unlessUnavailable(async () => {
    const { status } = (await ask(client, TOKEN_REVIEWS, { spec: { token } }, signal)) as TokenReview;
    return status?.authenticated === true ? status.user?.username : undefined;
  });
}

/** A review has no name and is not stored, so the client's functions for objects do not fit. */
function ask(client: KubeClient, resource: Resource, body: object, signal: AbortSignal): Promise<unknown> {
  const review = { apiVersion: apiVersionOf(resource), kind: resource.kind, ...body };
  return client.transport.request({
    subject: subjectOf('create', resource, {}),
    method: 'POST',
    path: collectionPath(resource),
    body: review,
    signal,
  });
}

/**
 * @returns undefined if the API server does not have this resource, or denies access to it
 * @throws KubeError
 */
async function unlessUnavailable(request: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await request();
  } catch (error) {
    if (UNANSWERED.some((code) => isKubeError(error, code))) return undefined;
    throw error;
  }
}

const UNANSWERED: readonly KubeErrorCode[] = [
  'KUBE_NOT_SERVED',
  'KUBE_NOT_FOUND',
  'KUBE_FORBIDDEN',
  'KUBE_BAD_REQUEST',
  'KUBE_INVALID',
  'KUBE_PROTOCOL',
];

/**
 * The user name that the API server derives from our credentials: the subject of a service account's token, or the common name of a client
 * certificate.
 */
export function userOfCredentials({ headers, tls }: Credentials): string | undefined {
  const impersonated = headers['impersonate-user'] ?? headers['Impersonate-User'];
  if (impersonated !== undefined) return impersonated;
  const [, token] = /^Bearer [^.]+\.([^.]+)\.[^.]*$/.exec(headers['authorization'] ?? '') ?? [];
  if (token !== undefined) return subjectIn(token);
  if (headers['authorization'] !== undefined || tls.cert === undefined) return undefined;
  try {
    return /^CN=(.+)$/m.exec(new X509Certificate(tls.cert).subject)?.[1];
  } catch {
    return undefined;
  }
}

/** For service accounts only: for other issuers the API server's configuration decides which claim is the user name. */
function subjectIn(payload: string): string | undefined {
  try {
    const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { readonly sub?: unknown };
    return typeof sub === 'string' && sub.startsWith('system:serviceaccount:') ? sub : undefined;
  } catch {
    return undefined;
  }
}
