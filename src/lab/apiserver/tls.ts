/** The laboratory's certificates: an authority, the server's certificate and an administrator's, made anew at each start (RFC 5280). */
import type { KeyObject } from 'node:crypto';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { bitString, der, integer, objectIdentifier, octets, sequence, TRUE, utcTime, utf8 } from './der.ts';

export interface Credential {
  readonly certificate: string;
  readonly key: string;
}

export interface Credentials {
  /** PEM of the authority that signed both. */
  readonly authority: string;
  readonly server: Credential;
  /** A client in group `system:masters`. */
  readonly admin: Credential;
}

interface Name {
  readonly organization?: string;
  readonly commonName: string;
}

interface Issuer {
  readonly name: Name;
  readonly key: KeyObject;
  readonly keyId: Buffer;
}

const LIFETIME_MS = 365 * 24 * 3600 * 1000;
const CLOCK_SKEW_MS = 300_000;
const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const IPV6_LOOPBACK = Buffer.from('00000000000000000000000000000001', 'hex');

/** @param now milliseconds since 1970. */
export function createCredentials(now: number): Credentials {
  const authorityKeys = newKeys();
  const issuer: Issuer = { name: { commonName: 'kiln-lab-ca' }, key: authorityKeys.privateKey, keyId: keyId(authorityKeys.publicKey) };
  const authority = certificate(issuer, issuer.name, authorityKeys.publicKey, now, [
    extension('2.5.29.19', true, sequence(TRUE)),
    extension('2.5.29.15', true, bitString(Buffer.from([0b0000_0110]), 1)),
    extension('2.5.29.14', false, octets(issuer.keyId)),
  ]);
  const issue = (name: Name, purpose: string, more: readonly Buffer[]): Credential => {
    const keys = newKeys();
    const extensions = [
      extension('2.5.29.19', true, sequence()),
      extension('2.5.29.15', true, bitString(Buffer.from([0b1000_0000]), 7)),
      extension('2.5.29.37', false, sequence(objectIdentifier(purpose))),
      extension('2.5.29.35', false, sequence(der(0x80, issuer.keyId))),
      ...more,
    ];
    return {
      certificate: certificate(issuer, name, keys.publicKey, now, extensions),
      key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  };
  const names = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '127.0.0.1', '::1'];
  return {
    authority,
    server: issue({ commonName: 'kube-apiserver' }, SERVER_AUTH, [extension('2.5.29.17', false, sequence(...names.map(alternativeName)))]),
    admin: issue({ organization: 'system:masters', commonName: 'kubernetes-admin' }, CLIENT_AUTH, []),
  };
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha256').update(publicKeyInfo(key)).digest().subarray(0, 20);
}

function distinguishedName(name: Name): Buffer {
  const attribute = (type: string, value: string): Buffer => der(0x31, sequence(objectIdentifier(type), utf8(value)));
  return sequence(
    ...(name.organization === undefined ? [] : [attribute('2.5.4.10', name.organization)]),
    attribute('2.5.4.3', name.commonName),
  );
}

function alternativeName(name: string): Buffer {
  if (isIPv4(name)) return der(0x87, Buffer.from(name.split('.').map(Number)));
  return name === '::1' ? der(0x87, IPV6_LOOPBACK) : der(0x82, Buffer.from(name));
}

function extension(type: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectIdentifier(type), ...(critical ? [TRUE] : []), octets(value));
}

function certificate(issuer: Issuer, subject: Name, key: KeyObject, now: number, extensions: readonly Buffer[]): string {
  const signed = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer.name),
    sequence(utcTime(now - CLOCK_SKEW_MS), utcTime(now + LIFETIME_MS)),
    distinguishedName(subject),
    publicKeyInfo(key),
    der(0xa3, sequence(...extensions)),
  );
  const bytes = sequence(signed, ECDSA_WITH_SHA256, bitString(sign('sha256', signed, issuer.key)));
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
