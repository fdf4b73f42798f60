/** The TLS files for the Northbound database: reads and checks them, and names the flag in messages. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { knowSecret } from '../../text/known-secrets.ts';

export interface OvnCertificateFiles {
  readonly ovnCa: string;
  readonly ovnCert: string;
  readonly ovnKey: string;
}

export interface OvnCertificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** @throws Error with a message that names the flag and the file */
export function readOvnCertificates({ ovnCa, ovnCert, ovnKey }: OvnCertificateFiles): OvnCertificates {
  const read = { ca: contents('--ovn-ca', ovnCa), cert: contents('--ovn-cert', ovnCert), key: contents('--ovn-key', ovnKey) };
  parsed('--ovn-ca', ovnCa, 'certificate', () => new X509Certificate(read.ca));
  const certificate = parsed('--ovn-cert', ovnCert, 'certificate', () => new X509Certificate(read.cert));
  knowSecret(read.key);
  const key = parsed('--ovn-key', ovnKey, 'private key without a passphrase', () => createPrivateKey(read.key));
  if (!certificate.checkPrivateKey(key)) throw new Error(`--ovn-key ${ovnKey} is not the key of the certificate in --ovn-cert ${ovnCert}`);
  return read;
}

/** A message for the user; undefined if the files are valid. */
export function certificateProblem({
  ovnNb = '',
  ovnCa,
  ovnCert,
  ovnKey,
}: Partial<OvnCertificateFiles> & { readonly ovnNb?: string }): string | undefined {
  const files = { '--ovn-ca': ovnCa, '--ovn-cert': ovnCert, '--ovn-key': ovnKey };
  const missing = Object.entries(files).flatMap(([flag, file]) => (file === undefined ? [flag] : []));
  const endpoint = ovnNb.split(',').find((one) => one.trim().startsWith('ssl:'));
  if (endpoint !== undefined && missing.length > 0)
    return `--ovn-nb ${endpoint.trim()} uses TLS and needs ${missing.join(' and ')} as well`;
  if (missing.length > 0 && missing.length < 3)
    return `ssl endpoints need all of --ovn-ca, --ovn-cert and --ovn-key; ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not there`;
  if (ovnCa === undefined || ovnCert === undefined || ovnKey === undefined) return undefined;
  try {
    readOvnCertificates({ ovnCa, ovnCert, ovnKey });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function contents(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const what = file.includes('-----BEGIN')
      ? 'expects the path of a file, not its contents'
      : `${file} cannot be read: ${(error as Error).message}`;
    throw new Error(`${flag} ${what}`, { cause: error });
  }
}

function parsed<T>(flag: string, file: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${flag} ${file} holds no ${what} (PEM)`, { cause: error });
  }
}
