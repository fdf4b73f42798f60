/** A certificate that somebody else keeps in files: read again and again, so that a renewed one is served without a restart. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Credential } from '../certificates/authority.ts';
import type { Clock, TimerHandle } from '../kube/clock.ts';
import { systemClock } from '../kube/clock.ts';
import type { Log } from '../runtime/log.ts';

/** Kubelets renew files of a Secret about once a minute. */
const LOOK_MS = 10_000;

/** @throws Error with a sentence for a person */
export function readCertificateFiles(certificateFile: string, keyFile: string): Credential {
  const credential = { certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  const certificate = parsed(`certificate in ${certificateFile}`, () => new X509Certificate(credential.certificate));
  const key = parsed(`key in ${keyFile}`, () => createPrivateKey(credential.key));
  if (!certificate.checkPrivateKey(key)) throw new Error(`the key in ${keyFile} is not that of the certificate in ${certificateFile}`);
  return credential;
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
  /** What was read at first. */
  readonly first: Credential;
  readonly use: (credential: Credential) => void;
  readonly log: Log;
  readonly clock?: Clock;
}

export class CertificateFiles {
  readonly #options: CertificateFilesOptions;
  readonly #clock: Clock;
  #served: Credential;
  #complained = '';
  #timer: TimerHandle;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#served = options.first;
    this.#wait();
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#look();
      this.#wait();
    }, LOOK_MS);
  }

  /** Two files that are written one after the other do not fit for a moment: what was served before is served on. */
  #look(): void {
    const { certificateFile, keyFile, use, log } = this.#options;
    try {
      const found = readCertificateFiles(certificateFile, keyFile);
      this.#complained = '';
      if (found.certificate === this.#served.certificate && found.key === this.#served.key) return;
      this.#served = found;
      use(found);
      log.info('webhook certificate read again', { file: certificateFile });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (text !== this.#complained)
        log.warn('the files of the webhook certificate cannot be used; the one before is served on', { error: text });
      this.#complained = text;
    }
  }
}
