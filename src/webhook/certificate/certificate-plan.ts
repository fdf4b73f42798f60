/**
 * Decides what happens to the webhook's certificate: keep, create, or rotate in two steps, so that no API server ever sees a certificate
 * that it does not trust yet. First Kiln publishes the next authority beside the present one (the bundle has both); later it serves the
 * next certificate. Each certificate has its own authority. Kiln drops the authority's key at once, so nothing else can be signed with it.
 */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { CertificateAuthority } from '../../certificates/authority.ts';
import type { Credential } from '../../certificates/authority.ts';

/** The data of the Secret, all in PEM. */
export interface CertificateData {
  /** Every authority of a certificate that a replica may serve; the newest last. */
  readonly 'ca.crt': string;
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'next.crt'?: string;
  readonly 'next.key'?: string;
}

export interface CertificateTimes {
  /** Validity of a certificate. Kiln rotates it when a third of this is left. */
  readonly lifetimeMs: number;
}

export type CertificatePlan =
  | {
      readonly kind: 'keep';
      readonly credential: Credential;
      readonly bundle: string;
      /** Milliseconds since 1970. */
      readonly until: number;
    }
  | { readonly kind: 'write'; readonly data: CertificateData; readonly why: 'first' | 'unfit' | 'next' | 'promoted' };

const CLOCK_SKEW_MS = 300_000;
/** How long the next authority is published before its certificate is served. API servers follow the configuration within seconds. */
const SETTLE_MS = 60_000;

/**
 * @param published when the next authority appeared in the API server's configuration, in milliseconds since 1970; undefined while it is
 *   absent
 */
export function planCertificate(
  now: number,
  data: Partial<CertificateData> | undefined,
  hosts: readonly string[],
  { lifetimeMs }: CertificateTimes,
  published: number | undefined,
): CertificatePlan {
  const present = data === undefined ? undefined : fit(now, data['tls.crt'], data['tls.key'], hosts);
  const bundle = joined(certificatesIn(data?.['ca.crt'] ?? '').filter(isReadable));
  if (present === undefined || !trusts(bundle, present.certificate)) {
    const made = make(now, hosts, lifetimeMs);
    const kept = data === undefined ? [] : certificatesIn(bundle).slice(-1);
    return {
      kind: 'write',
      data: { 'ca.crt': joined([...kept, made.authority]), ...made.data },
      why: data === undefined ? 'first' : 'unfit',
    };
  }
  const credential = { certificate: data?.['tls.crt'] ?? '', key: data?.['tls.key'] ?? '' };
  // Text that a user added to the bundle would be published with it, and an API server may then reject the whole bundle.
  if (bundle !== data?.['ca.crt'])
    return {
      kind: 'write',
      data: { ...data, 'ca.crt': bundle, 'tls.crt': credential.certificate, 'tls.key': credential.key },
      why: 'unfit',
    };
  const next = fit(now, data['next.crt'], data['next.key'], hosts);
  if (next !== undefined && trusts(bundle, next.certificate)) {
    const trusted = published === undefined ? Infinity : published + Math.min(SETTLE_MS, lifetimeMs / 10);
    // Also a certificate whose authority is not published replaces the present one before that expires.
    const due = Math.min(trusted, present.end - lifetimeMs / 6);
    if (now < due) return { kind: 'keep', credential, bundle, until: due };
    return {
      kind: 'write',
      data: { 'ca.crt': bundle, 'tls.crt': data?.['next.crt'] ?? '', 'tls.key': data?.['next.key'] ?? '' },
      why: 'promoted',
    };
  }
  const due = present.end - lifetimeMs / 3;
  if (now < due) return { kind: 'keep', credential, bundle, until: due };
  const made = make(now, hosts, lifetimeMs);
  return {
    kind: 'write',
    data: {
      'ca.crt': joined([...certificatesIn(bundle).filter((pem) => issued(pem, present.certificate)), made.authority]),
      'tls.crt': credential.certificate,
      'tls.key': credential.key,
      'next.crt': made.data['tls.crt'],
      'next.key': made.data['tls.key'],
    },
    why: 'next',
  };
}

interface Made {
  readonly authority: string;
  readonly data: Pick<CertificateData, 'tls.crt' | 'tls.key'>;
}

function make(now: number, hosts: readonly string[], lifetimeMs: number): Made {
  const authority = new CertificateAuthority('kiln-webhook-ca', { from: now - CLOCK_SKEW_MS, until: now + lifetimeMs });
  const { certificate, key } = authority.issue({ name: { commonName: hosts[0] ?? 'kiln-webhook' }, purpose: 'server', hosts });
  return { authority: authority.certificate, data: { 'tls.crt': certificate, 'tls.key': key } };
}

interface Fit {
  readonly certificate: X509Certificate;
  /** Milliseconds since 1970. */
  readonly end: number;
}

/**
 * The certificate if it is fit to serve. Undefined if it is unreadable, expired, not valid yet (the clock of its author was ahead, and API
 * servers reject it), has another key, or is for other hosts.
 */
function fit(now: number, pem: string | undefined, key: string | undefined, hosts: readonly string[]): Fit | undefined {
  if (pem === undefined || key === undefined) return undefined;
  try {
    const certificate = new X509Certificate(pem);
    const [begin, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    const named = hosts.every((host) => certificate.checkHost(host) !== undefined || certificate.checkIP(host) !== undefined);
    return begin <= now && now < end && named && certificate.checkPrivateKey(createPrivateKey(key)) ? { certificate, end } : undefined;
  } catch {
    return undefined;
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/g;

export function certificatesIn(bundle: string): readonly string[] {
  return bundle.match(PEM) ?? [];
}

function isReadable(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}

function joined(certificates: readonly string[]): string {
  return certificates.map((pem) => (pem.endsWith('\n') ? pem : `${pem}\n`)).join('');
}

/** Whether one of the bundle's authorities signed the certificate; both in PEM. */
export function isTrusted(bundle: string, certificate: string): boolean {
  return trusts(bundle, new X509Certificate(certificate));
}

function trusts(bundle: string, certificate: X509Certificate): boolean {
  return certificatesIn(bundle).some((pem) => issued(pem, certificate));
}

function issued(authority: string, certificate: X509Certificate): boolean {
  try {
    return certificate.verify(new X509Certificate(authority).publicKey);
  } catch {
    return false;
  }
}
