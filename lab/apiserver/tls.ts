/** The laboratory's certificates, new at each start: an authority, the server's certificate and an administrator's. */
import type { Credential } from '../../src/certificates/authority.ts';
import { CertificateAuthority } from '../../src/certificates/authority.ts';

export interface Credentials {
  /** PEM of the authority that signed both. */
  readonly authority: string;
  readonly server: Credential;
  /** A client in group `system:masters`. */
  readonly admin: Credential;
}

/** The API server's client certificate for webhooks, like the front proxy's certificate in a cluster. */
export interface FrontProxy {
  /** PEM of an authority that signs only this certificate. */
  readonly authority: string;
  readonly client: Credential;
}

const LIFETIME_MS = 365 * 24 * 3600 * 1000;
const CLOCK_SKEW_MS = 300_000;
const HOSTS = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '127.0.0.1', '::1'];

/** @param now milliseconds since 1970. */
export function createCredentials(now: number): Credentials {
  const authority = new CertificateAuthority('kiln-lab-ca', { from: now - CLOCK_SKEW_MS, until: now + LIFETIME_MS });
  return {
    authority: authority.certificate,
    server: authority.issue({ name: { commonName: 'kube-apiserver' }, purpose: 'server', hosts: HOSTS }),
    admin: authority.issue({ name: { organization: 'system:masters', commonName: 'kubernetes-admin' }, purpose: 'client' }),
  };
}

/** @param now milliseconds since 1970. */
export function createFrontProxy(now: number): FrontProxy {
  const authority = new CertificateAuthority('kiln-lab-front-proxy-ca', { from: now - CLOCK_SKEW_MS, until: now + LIFETIME_MS });
  return {
    authority: authority.certificate,
    client: authority.issue({ name: { commonName: 'front-proxy-client' }, purpose: 'client' }),
  };
}
