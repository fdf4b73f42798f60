/** The authorities of API servers' client certificates, in a file that another program keeps. Kiln reads it periodically. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { systemClock } from '../../timing/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { certificatesIn } from '../certificate/certificate-plan.ts';

/** Kubelets refresh the files of a ConfigMap about once a minute. */
const CHECK_MS = 10_000;

export interface ClientAuthorityFileOptions {
  readonly file: string;
  /** Called at first and at each change; with undefined while the file does not exist or cannot be used. */
  readonly use: (authorities: string | undefined) => void;
  readonly log: Log;
  readonly clock?: Clock;
}

export class ClientAuthorityFile {
  readonly #options: ClientAuthorityFileOptions;
  readonly #clock: Clock;
  #used: string | undefined;
  #logged = '';
  #timer: TimerHandle;

  constructor(options: ClientAuthorityFileOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#check();
  }

  get authorities(): string | undefined {
    return this.#used;
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #check(): void {
    const { file, use, log } = this.#options;
    try {
      const text = authoritiesIn(file);
      if (text !== this.#used) {
        use((this.#used = text));
        log.info('webhook: API servers are recognised by client certificates of these authorities', { file });
      }
      this.#logged = '';
    } catch (error) {
      // The authorities last read remain valid: a file is empty for a moment while a program writes it.
      const text = error instanceof Error ? error.message : String(error);
      if (text !== this.#logged)
        log.warn('webhook: the authorities of API servers cannot be read', {
          error: text,
          meanwhile: this.#used === undefined ? 'every client is unknown' : 'the ones read before are still used',
        });
      this.#logged = text;
    }
    this.#timer = this.#clock.setTimeout(() => this.#check(), CHECK_MS);
  }
}

/** @throws Error if the file cannot be used; its message is for the user */
function authoritiesIn(file: string): string {
  const found = certificatesIn(readFileSync(file, 'utf8'));
  if (found.length === 0) throw new Error(`there is no certificate (PEM) in ${file}`);
  for (const pem of found)
    if (!isAuthority(pem)) throw new Error(`a certificate in ${file} is not that of an authority, or cannot be read`);
  return found.join('');
}

function isAuthority(pem: string): boolean {
  try {
    return new X509Certificate(pem).ca;
  } catch {
    return false;
  }
}
