/** The API server's certificate at the webhook's port: real TLS, with certificates that prove the API server and some that do not. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Credential } from '../../certificates/authority.ts';
import { CertificateAuthority } from '../../certificates/authority.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { ClientAuthorityFile } from './client-authority-file.ts';
import type { UnknownClients } from './client-identity.ts';
import { CLIENT_NAME } from './client-identity.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import { ask, lasting, review } from '../testing/held-client.ts';
import type { UnservedReason } from './webhook-server.ts';
import { WebhookServer } from './webhook-server.ts';

const HOUR_MS = 3_600_000;
const authorityOf = (name: string): CertificateAuthority =>
  new CertificateAuthority(name, { from: Date.now() - 1_000, until: Date.now() + HOUR_MS });
const own = authorityOf('webhook');
const frontProxy = authorityOf('front-proxy');
const other = authorityOf('front-proxy');
const client = (authority: CertificateAuthority, commonName = CLIENT_NAME, purpose: 'client' | 'server' = 'client'): Credential =>
  authority.issue({ name: { commonName }, purpose });

interface Served {
  readonly server: WebhookServer;
  readonly proven: boolean[];
  readonly warnings: string[];
  readonly unserved: UnservedReason[];
  readonly asks: (shown?: Credential) => Promise<boolean>;
}

async function serve(unknown: UnknownClients | 'nobody is asked', authorities: string | undefined): Promise<Served> {
  const [proven, warnings, unserved] = [[] as boolean[], [] as string[], [] as UnservedReason[]];
  const log: Log = { ...SILENT, warn: (message) => warnings.push(message) };
  const server = await WebhookServer.start({
    host: '127.0.0.1',
    port: 0,
    credential: own.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] }),
    ...(unknown !== 'nobody is asked' && { clients: { authorities, names: [CLIENT_NAME, 'another'], unknown } }),
    review: (_, isProven) => {
      proven.push(isProven);
      return ALLOWED;
    },
    log,
    unserved: (why) => unserved.push(why),
  });
  const place = { port: server.port, authority: own.certificate };
  /** @returns whether the webhook took the client for the API server. Rejects if the webhook closes the connection */
  const asks = async (shown?: Credential): Promise<boolean> => {
    const { status } = await ask(place, review(), shown === undefined ? {} : { cert: shown.certificate, key: shown.key });
    assert.equal(status, 200);
    return proven.pop() === true;
  };
  return { server, proven, warnings, unserved, asks };
}

const IMPOSTORS: Readonly<Record<string, Credential | undefined>> = {
  'no certificate': undefined,
  'a certificate of an authority of the same name': client(other),
  'another name': client(frontProxy, 'kubernetes-admin'),
  'a name that begins alike': client(frontProxy, `${CLIENT_NAME}.example`),
  "a server's certificate": client(frontProxy, CLIENT_NAME, 'server'),
  'the certificate of the webhook itself': client(own),
};

test('only a certificate of the authority, for clients, with an allowed name proves the API server; all others are answered as unknown', async () => {
  const { server, asks } = await serve('answer', frontProxy.certificate);
  try {
    assert.equal(await asks(client(frontProxy)), true);
    assert.equal(await asks(client(frontProxy, 'another')), true);
    for (const [what, shown] of Object.entries(IMPOSTORS)) assert.equal(await asks(shown), false, what);
  } finally {
    await server.close();
  }
});

test('rejected unknown clients get no answer, and this is logged once', async () => {
  const { server, asks, proven, warnings, unserved } = await serve('refuse', frontProxy.certificate);
  try {
    assert.equal(await asks(client(frontProxy)), true);
    for (const [what, shown] of Object.entries(IMPOSTORS)) await assert.rejects(asks(shown), { code: /ECONNRESET|EPIPE/ }, what);
    assert.deepEqual(proven, [], 'nothing was validated');
    assert.equal(warnings.length, 1);
    assert.deepEqual([...new Set(unserved)], ['identity']);
    assert.equal(await asks(client(frontProxy)), true);
  } finally {
    await server.close();
  }
});

test('without an authority every client is unknown: those of the machine are not believed', async () => {
  for (const unknown of ['answer', 'nobody is asked'] as const) {
    const { server, asks } = await serve(unknown, undefined);
    assert.equal(await asks(client(frontProxy)), false);
    assert.equal(await asks(), false);
    await server.close();
  }
});

test('a new authority counts for new connections and for open ones, after a new certificate of the webhook too', async () => {
  const { server, asks, proven } = await serve('answer', frontProxy.certificate);
  const shown = client(frontProxy);
  const agent = lasting('127.0.0.1');
  try {
    const place = { port: server.port, authority: own.certificate };
    const again = async (): Promise<boolean> => {
      await ask(place, review(), { agent, cert: shown.certificate, key: shown.key });
      return proven.pop() === true;
    };
    assert.deepEqual([await again(), await again()], [true, true]);
    server.use(own.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] }));
    assert.deepEqual([await again(), await asks(shown)], [true, true]);
    server.trust(other.certificate);
    assert.equal(await again().catch(() => false), false);
    assert.deepEqual([await asks(shown), await asks(client(other))], [false, true]);
    server.trust(undefined);
    assert.deepEqual([await asks(shown), await asks(client(other))], [false, false]);
  } finally {
    agent.destroy();
    await server.close();
  }
});

test('the file of authorities may come later, is read again, and counts on while it is written', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-clients-'));
  const file = join(directory, 'ca.crt');
  const clock = new ManualClock();
  const used: (string | undefined)[] = [];
  const warnings: unknown[] = [];
  const log: Log = { ...SILENT, warn: (_, fields) => warnings.push(fields?.['meanwhile']) };
  const read = new ClientAuthorityFile({ file, use: (pem) => used.push(pem), log, clock });
  try {
    assert.equal(read.authorities, undefined);
    await writeFile(file, frontProxy.certificate);
    clock.advance(10_000);
    assert.deepEqual(used, [frontProxy.certificate]);
    for (const broken of ['', client(frontProxy).certificate, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
      await writeFile(file, broken);
      clock.advance(10_000);
    }
    assert.equal(read.authorities, frontProxy.certificate);
    await writeFile(file, frontProxy.certificate + other.certificate);
    clock.advance(10_000);
    assert.equal(used.at(-1), frontProxy.certificate + other.certificate);
    assert.deepEqual([...new Set(warnings)], ['every client is unknown', 'the ones read before are still used']);
  } finally {
    read.close();
    await rm(directory, { recursive: true });
  }
});
