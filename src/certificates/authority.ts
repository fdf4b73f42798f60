/** X.509 certificates (RFC 5280): an authority, and the certificates that it signs. Keys are ECDSA on P-256. */
import type { KeyObject } from 'node:crypto';
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { parseAddress } from '../net/address.ts';
import { bitString, der, integer, objectIdentifier, octets, sequence, time, TRUE, utf8 } from './der.ts';

/** Both in PEM. */
export interface Credential {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateName {
  readonly organization?: string;
  readonly commonName: string;
}

/** Milliseconds since 1970. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

export interface CertificateRequest {
  readonly name: CertificateName;
  /** A peer is a server and a client of its like. */
  readonly purpose: 'server' | 'client' | 'peer';
  /** DNS names and addresses of a server. */
  readonly hosts?: readonly string[];
}

const ECDSA_WITH_SHA256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const [SERVER, CLIENT] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'] as const;
const PURPOSES = { server: [SERVER], client: [CLIENT], peer: [SERVER, CLIENT] } as const;

/** An authority with the lifetime of this object: its key is never stored. Its certificates are valid as long as it is. */
export class CertificateAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly #name: CertificateName;
  readonly #validity: Validity;
  readonly #key: KeyObject;
  readonly #keyId: Buffer;

  constructor(commonName: string, validity: Validity) {
    const { publicKey, privateKey } = newKeys();
    this.#name = { commonName };
    this.#validity = validity;
    this.#key = privateKey;
    this.#keyId = createHash('sha256').update(publicKeyInfo(publicKey)).digest().subarray(0, 20);
    this.certificate = this.#sign(this.#name, publicKey, [
      extension('2.5.29.19', true, sequence(TRUE)),
      extension('2.5.29.15', true, bitString(Buffer.from([0b0000_0110]), 1)),
      extension('2.5.29.14', false, octets(this.#keyId)),
    ]);
  }

  issue({ name, purpose, hosts = [] }: CertificateRequest): Credential {
    const { publicKey, privateKey } = newKeys();
    const certificate = this.#sign(name, publicKey, [
      extension('2.5.29.19', true, sequence()),
      extension('2.5.29.15', true, bitString(Buffer.from([0b1000_0000]), 7)),
      extension('2.5.29.37', false, sequence(...PURPOSES[purpose].map(objectIdentifier))),
      extension('2.5.29.35', false, sequence(der(0x80, this.#keyId))),
      ...(hosts.length === 0 ? [] : [extension('2.5.29.17', false, sequence(...hosts.map(alternativeName)))]),
    ]);
    return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  }

  #sign(subject: CertificateName, key: KeyObject, extensions: readonly Buffer[]): string {
    const signed = sequence(
      der(0xa0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ECDSA_WITH_SHA256,
      distinguishedName(this.#name),
      sequence(time(this.#validity.from), time(this.#validity.until)),
      distinguishedName(subject),
      publicKeyInfo(key),
      der(0xa3, sequence(...extensions)),
    );
    const bytes = sequence(signed, ECDSA_WITH_SHA256, bitString(sign('sha256', signed, this.#key)));
    const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function distinguishedName({ organization, commonName }: CertificateName): Buffer {
  const attribute = (type: string, value: string): Buffer => der(0x31, sequence(objectIdentifier(type), utf8(value)));
  return sequence(...(organization === undefined ? [] : [attribute('2.5.4.10', organization)]), attribute('2.5.4.3', commonName));
}

function alternativeName(host: string): Buffer {
  const address = parseAddress(host);
  if (address === undefined) return der(0x82, Buffer.from(host));
  return der(0x87, Buffer.from(address.value.toString(16).padStart(address.family === 4 ? 8 : 32, '0'), 'hex'));
}

function extension(type: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectIdentifier(type), ...(critical ? [TRUE] : []), octets(value));
}
