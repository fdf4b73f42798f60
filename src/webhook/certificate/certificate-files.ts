/**
 * A certificate in files that another program keeps, such as cert-manager. Kiln reads them periodically and serves a renewed certificate
 * without a restart.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Credential } from '../../certificates/authority.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { systemClock } from '../../timing/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { knowSecret } from '../../text/known-secrets.ts';

/** Kubelets refresh the files of a Secret about once a minute. */
const CHECK_MS = 10_000;

/** The files may appear late: cert-manager creates them, and its own pod needs a network first. */
class FileMissing extends Error {}

/**
 * @returns undefined if a file does not exist
 * @throws Error if the files cannot be used; its message is for the user
 */
export function certificateFilesIfThere(certificateFile: string, keyFile: string): Credential | undefined {
  try {
    return readCertificateFiles(certificateFile, keyFile);
  } catch (error) {
    if (error instanceof FileMissing) return undefined;
    throw error;
  }
}

/** @throws Error if the files cannot be used; its message is for the user */
export function readCertificateFiles(certificateFile: string, keyFile: string): Credential {
  const credential = { certificate: contents('--webhook-cert', certificateFile), key: contents('--webhook-key', keyFile) };
  knowSecret(credential.key);
  const certificate = parsed(`certificate in ${certificateFile}`, () => new X509Certificate(credential.certificate));
  const key = parsed(`key in ${keyFile}`, () => createPrivateKey(credential.key));
  if (!certificate.checkPrivateKey(key)) throw new Error(`the key in ${keyFile} is not that of the certificate in ${certificateFile}`);
  return credential;
}

function contents(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text = `${flag} ${file} cannot be read: ${message}`;
    throw code === 'ENOENT' ? new FileMissing(text, { cause: error }) : new Error(text, { cause: error });
  }
}

/**
 * cert-manager and others renew a certificate when a third of its lifetime is left, or earlier. With less than this fraction left, renewal
 * has failed.
 */
const LATE = 1 / 6;

/** @returns a message if API servers reject the certificate now, or will soon; undefined otherwise */
export function validityProblem({ certificate }: Credential, file: string, now: number): string | undefined {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)];
  const at = (time: number): string => new Date(time).toISOString();
  if (now >= until) return `the certificate in ${file} ended at ${at(until)}: API servers reject it`;
  if (now < from) return `the certificate in ${file} begins at ${at(from)}: API servers reject it before`;
  return until - now < (until - from) * LATE ? `the certificate in ${file} ends at ${at(until)}, and it is not renewed yet` : undefined;
}

function parsed<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Error(`there is no ${what} (PEM)`, { cause: error });
  }
}

export interface CertificateFilesOptions {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** The first certificate that was read; undefined while the files do not exist. */
  readonly first: Credential | undefined;
  readonly use: (credential: Credential) => void;
  readonly log: Log;
  readonly clock?: Clock;
}

export class CertificateFiles {
  readonly #options: CertificateFilesOptions;
  readonly #clock: Clock;
  #served: Credential | undefined;
  #loggedError = '';
  #invalid = '';
  #timer: TimerHandle;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#served = options.first;
    if (this.#served === undefined) this.#check();
    this.#logValidity();
    this.#wait();
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#check();
      this.#logValidity();
      this.#wait();
    }, CHECK_MS);
  }

  /** While the other program replaces the two files, they do not match. Kiln keeps serving the previous certificate. */
  #check(): void {
    const { certificateFile, keyFile, use, log } = this.#options;
    try {
      const found = readCertificateFiles(certificateFile, keyFile);
      this.#loggedError = '';
      if (found.certificate === this.#served?.certificate && found.key === this.#served.key) return;
      const message = this.#served === undefined ? 'webhook certificate read' : 'webhook certificate read again';
      this.#served = found;
      use(found);
      log.info(message, { file: certificateFile });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const meanwhile = this.#served === undefined ? 'the webhook answers nothing until then' : 'the previous certificate is still served';
      if (text !== this.#loggedError) log.warn(`the files of the webhook certificate cannot be used; ${meanwhile}`, { error: text });
      this.#loggedError = text;
    }
  }

  /** An API server that rejects the certificate reports this in its own log only, and continues without the webhook. */
  #logValidity(): void {
    const { certificateFile, log } = this.#options;
    if (this.#served === undefined) return;
    const problem = validityProblem(this.#served, certificateFile, this.#clock.wallTime()) ?? '';
    if (problem !== this.#invalid && problem !== '')
      log.warn('the certificate of the webhook is invalid or expires soon', {
        error: problem,
        next: 'renew it with the program that issued it; Kiln reads changed files again',
      });
    this.#invalid = problem;
  }
}
