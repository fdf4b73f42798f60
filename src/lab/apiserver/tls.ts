/** The laboratory's certificates: an authority, the server's certificate and an administrator's, made anew at each start. */
import type { Credential } from '../../certificates/authority.ts';
import { CertificateAuthority } from '../../certificates/authority.ts';

export interface Credentials {
  /** PEM of the authority that signed both. */
  readonly authority: string;
  readonly server: Credential;
  /** A client in group `system:masters`. */
  readonly admin: Credential;
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
