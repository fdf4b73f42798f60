/** The laboratory's certificates: an authority, the server's certificate and an administrator's, made anew at each start. */
import type { Credential } from '../../src/certificates/authority.ts';
import { CertificateAuthority } from '../../src/certificates/authority.ts';

export interface Credentials {
  /** PEM of the authority that signed both. */
  readonly authority: string;
  readonly server: Credential;
  /** A client in group `system:masters`. */
  readonly admin: Credential;
}

/** How the API server shows webhooks that it is the API server, as the front proxy's certificate does in a cluster. */
export interface FrontProxy {
  /** PEM of an authority that signs nothing else. */
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
