import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import type { ServerOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { KubeClient } from '../client/client.ts';
import { type Connection, connectionFromCluster, connectionFromKubeconfig } from './connection.ts';
import { PODS } from '../resource.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { KubeTransport } from './transport.ts';

/** A CA, a server's and a client's certificate, made by openssl. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void => {
    const run = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
    assert.equal(run.status, 0, run.stderr);
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-batch'];
  writeFileSync(join(folder, 'san'), 'subjectAltName=IP:127.0.0.1');
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=test-ca', '-days', '1');
  for (const name of ['server', 'client']) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-out',
      `${name}.crt`,
      '-days',
      '1',
      '-extfile',
      'san',
    );
  }
}

describe('connections from a kubeconfig', () => {
  let folder: string;
  let api: ScriptedApi;
  let seen: { authorization: string | undefined; client: string | undefined };
  let accepted: string | undefined;
  const clients: KubeClient[] = [];

  const file = (name: string): string => join(folder, name);
  const kubeconfig = (user: object, cluster: object = {}): string => {
    const path = file(`kubeconfig-${Math.random()}`);
    writeFileSync(
      path,
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'one',
        clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${api.port}`, 'certificate-authority': 'ca.crt', ...cluster } }],
        users: [{ name: 'u', user }],
        contexts: [
          { name: 'one', context: { cluster: 'c', user: 'u', namespace: 'kube-system' } },
          { name: 'two', context: { cluster: 'c', user: 'u', namespace: 'other' } },
        ],
      }),
    );
    return path;
  };
  const client = (connection: Connection, clock = new ManualClock()): KubeClient => {
    const made = new KubeClient(new KubeTransport(connection, { clock }));
    clients.push(made);
    return made;
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kube-connection-'));
    makeCertificates(folder);
    const tls: ServerOptions = {
      key: readFileSync(file('server.key')),
      cert: readFileSync(file('server.crt')),
      ca: readFileSync(file('ca.crt')),
      requestCert: true,
      rejectUnauthorized: false,
    };
    api = await ScriptedApi.start(tls);
    api.handler = (exchange) => {
      const socket = exchange.socket as TLSSocket;
      const peer = socket.authorized ? String(socket.getPeerCertificate().subject?.CN) : undefined;
      seen = { authorization: exchange.headers.authorization, client: peer };
      if (accepted !== undefined && exchange.headers.authorization !== accepted) {
        exchange.status(401, 'Unauthorized', 'Unauthorized');
      } else exchange.list([], '1');
    };
  });
  after(async () => {
    await Promise.all(clients.map((made) => made.close()));
    await api.close();
    rmSync(folder, { recursive: true });
  });

  it("presents a client certificate and checks the server's", async () => {
    const connection = await connectionFromKubeconfig({
      path: kubeconfig({ 'client-certificate': 'client.crt', 'client-key': 'client.key' }),
    });
    assert.equal(connection.namespace, 'kube-system');
    await client(connection).list(PODS);
    assert.deepEqual(seen, { authorization: undefined, client: 'client' });
  });

  it('rejects a server of another CA, and the request was certainly not sent', async () => {
    writeFileSync(file('other-ca.crt'), readFileSync(file('client.crt')));
    const path = kubeconfig({ token: 't' }, { 'certificate-authority': 'other-ca.crt' });
    await assert.rejects(client(await connectionFromKubeconfig({ path })).list(PODS), { code: 'KUBE_UNREACHABLE' });
  });

  it('reports a missing kubeconfig', async (t) => {
    const kept = { KUBECONFIG: process.env['KUBECONFIG'], HOME: process.env['HOME'] };
    t.after(() => {
      for (const [name, value] of Object.entries(kept)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    delete process.env['KUBECONFIG'];
    process.env['HOME'] = folder;
    await assert.rejects(connectionFromKubeconfig(), {
      code: 'KUBE_CONFIG',
      message: /there is none: KUBECONFIG names no cluster, ~\/\.kube\/config does not either, and this is not a pod/,
    });
  });

  it('reports a file without a current context', async () => {
    writeFileSync(file('no-kubeconfig'), 'x');
    await assert.rejects(connectionFromKubeconfig({ path: file('no-kubeconfig') }), {
      code: 'KUBE_CONFIG',
      message: /it has no current-context: it is no kubeconfig, or one to name a context of with --context/,
    });
  });

  it('uses the requested context, and tokens', async () => {
    const connection = await connectionFromKubeconfig({ path: kubeconfig({ token: 'secret' }), context: 'two' });
    assert.equal(connection.namespace, 'other');
    await client(connection).list(PODS);
    assert.equal(seen.authorization, 'Bearer secret');
  });

  it('reads a rotated token file again, by time and at once after a 401', async () => {
    writeFileSync(file('token'), 'first\n');
    const clock = new ManualClock();
    const made = client(await connectionFromKubeconfig({ path: kubeconfig({ tokenFile: 'token' }) }), clock);
    await made.list(PODS);
    assert.equal(seen.authorization, 'Bearer first');
    writeFileSync(file('token'), 'second\n');
    accepted = 'Bearer second';
    await made.list(PODS);
    assert.equal(seen.authorization, 'Bearer second');
    accepted = 'Bearer third';
    await assert.rejects(made.list(PODS), { code: 'KUBE_UNAUTHORIZED' });
    accepted = undefined;
  });

  it('reads a changed kubeconfig again', async () => {
    const path = kubeconfig({ token: 'one' });
    const clock = new ManualClock();
    const made = client(await connectionFromKubeconfig({ path }), clock);
    await made.list(PODS);
    writeFileSync(path, readFileSync(path, 'utf8').replace('token: one', 'token: two'));
    utimesSync(path, new Date(), new Date(Date.now() + 5_000));
    clock.advance(61_000);
    await made.list(PODS);
    assert.equal(seen.authorization, 'Bearer two');
  });

  it('runs an exec plugin', async () => {
    const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'from-plugin' } };
    writeFileSync(file('plugin'), `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`);
    chmodSync(file('plugin'), 0o755);
    const path = kubeconfig({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: file('plugin'), interactiveMode: 'Never' } });
    await client(await connectionFromKubeconfig({ path })).list(PODS);
    assert.equal(seen.authorization, 'Bearer from-plugin');
  });

  it('tells nothing of what an exec plugin that fails prints', async () => {
    for (const script of ['echo hunter22 >&2; exit 1', 'echo hunter22', `echo '{"kind":"ExecCredential" "hunter22"}'`]) {
      writeFileSync(file('plugin'), `#!/bin/sh\n${script}\n`);
      chmodSync(file('plugin'), 0o755);
      const path = kubeconfig({
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: file('plugin'), interactiveMode: 'Never' },
      });
      await assert.rejects(client(await connectionFromKubeconfig({ path })).list(PODS), (error: Error) => {
        assert.doesNotMatch(error.message, /hunter22/);
        return /the credential program \S+plugin of the kubeconfig failed/.test(error.message);
      });
    }
  });

  it('makes its tokens and passwords known, so that no text gives them back', async () => {
    await (await connectionFromKubeconfig({ path: kubeconfig({ token: 'my-own-token' }) })).credentials(false);
    await (await connectionFromKubeconfig({ path: kubeconfig({ username: 'me', password: 'Open-Sesame' }) })).credentials(false);
    for (const text of ['my-own-token', 'Open-Sesame', Buffer.from('me:Open-Sesame').toString('base64')])
      assert.equal(withoutSecrets(`the proxy says ${text}`), 'the proxy says [redacted]');
  });

  it("loads none of the library's generated clients", () => {
    const program = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const { connectionFromKubeconfig } = await import(${JSON.stringify(import.meta.resolve('./connection.ts'))});
      await connectionFromKubeconfig({ path: ${JSON.stringify(kubeconfig({ token: 't' }))} });
      console.log(JSON.stringify(loaded));`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stderr);
    const loaded = (JSON.parse(run.stdout) as readonly string[]).filter((url) => url.includes('/@kubernetes/client-node/'));
    assert.ok(loaded.some((url) => url.endsWith('/dist/config.js')));
    assert.deepEqual(
      loaded.filter((url) => /\/gen\/(?:apis|models)\//.test(url)),
      [],
    );
  });

  it('reports errors in a kubeconfig', async () => {
    await assert.rejects(connectionFromKubeconfig({ path: file('missing') }), { code: 'KUBE_CONFIG', message: /missing.*ENOENT/s });
    await assert.rejects(connectionFromKubeconfig({ path: kubeconfig({}), context: 'three' }), {
      code: 'KUBE_CONFIG',
      message: /no context "three"/,
    });
  });

  it('reports that this process is not in a pod', async () => {
    writeFileSync(file('no-yaml'), 'clusters: [a\n');
    await assert.rejects(connectionFromKubeconfig({ path: file('no-yaml') }), (error: Error) => {
      assert.doesNotMatch(error.message, /\n/, 'one sentence');
      return true;
    });
    await assert.rejects(connectionFromCluster(), { code: 'KUBE_CONFIG', message: /KUBERNETES_SERVICE_HOST/ });
  });
});
