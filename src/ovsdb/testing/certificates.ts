import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TlsMaterial } from '../transport.ts';
import type { ServerTlsFiles } from './ovsdb-server-process.ts';

const run = promisify(execFile);

/** A certificate authority in its own directory, made by openssl; its certificates name no host, like those of ovs-pki. */
export class TestAuthority {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async create(): Promise<TestAuthority> {
    const authority = new TestAuthority(await mkdtemp(join(tmpdir(), 'ovsdb-')));
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1', '-subj', '/CN=test-ca'],
      ...['-keyout', authority.#file('ca.key'), '-out', authority.#file('ca.crt')],
    ]);
    return authority;
  }

  /** A key and a certificate for a client or a server. */
  async issue(name: string): Promise<ServerTlsFiles> {
    const [key, request, cert] = [this.#file(`${name}.key`), this.#file(`${name}.csr`), this.#file(`${name}.crt`)];
    await run('openssl', [
      ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', `/CN=${name}`],
      ...['-keyout', key, '-out', request],
    ]);
    await run('openssl', [
      ...['x509', '-req', '-days', '1', '-in', request, '-out', cert],
      ...['-CA', this.#file('ca.crt'), '-CAkey', this.#file('ca.key'), '-CAcreateserial'],
    ]);
    await writeFile(request, '');
    return { ca: this.#file('ca.crt'), key, cert };
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }
}

/** The contents of such files, as a session takes them. */
export async function readTlsFiles(files: ServerTlsFiles): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([files.ca, files.cert, files.key].map((file) => readFile(file, 'utf8')));
  return { ca: ca!, cert: cert!, key: key! };
}
