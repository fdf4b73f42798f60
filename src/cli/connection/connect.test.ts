import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestAuthority } from '../../ovsdb/testing/certificates.ts';
import { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { until } from '../../testing/until.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { northboundSession } from './connect.ts';

test('certificates renewed on disk, by a new authority, are used at the next connection, without a restart', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-tls-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const files = (of: 'server' | 'client'): { ca: string; cert: string; key: string } => ({
    ca: join(directory, `${of}-ca.pem`),
    cert: join(directory, `${of}-cert.pem`),
    key: join(directory, `${of}-key.pem`),
  });
  /** Writes new contents under the same names, as a certificate manager does. */
  const renew = async (of: 'server' | 'client', authority: TestAuthority): Promise<void> => {
    const [issued, kept] = [await authority.issue(of), files(of)];
    for (const part of ['ca', 'cert', 'key'] as const) await copyFile(issued[part], kept[part]);
  };
  const authorities = [await TestAuthority.create(), await TestAuthority.create()] as const;
  for (const authority of authorities) t.after(() => authority.remove());
  const [first, second] = authorities;
  await renew('server', first);
  await renew('client', first);
  const server = await OvsdbServerProcess.start({ ssl: files('server') });
  t.after(() => server.stop());
  const { ca: ovnCa, cert: ovnCert, key: ovnKey } = files('client');
  const warnings: string[] = [];
  const log: Log = { ...SILENT, warn: (_, fields) => void warnings.push(String(fields?.['error'])) };
  const session = northboundSession({ ovnNb: server.ssl, ovnCa, ovnCert, ovnKey }, log);
  t.after(() => session.close());
  const errors: string[] = [];
  session.onError(({ code }) => errors.push(code));
  session.start();
  await session.untilSynced();

  await server.kill();
  await renew('server', second);
  await server.restart();
  await until(
    'the old authority is not trusted by the other side',
    () => errors.filter((code) => code === 'OVSDB_CONNECT_FAILED').length > 1,
  );
  assert.equal(session.state, 'stale');
  // Each reason once: the server closed the connection, no program listens, and why it has been unreachable since.
  await until('the log has the reason', () =>
    warnings.some((reason) => /self.signed certificate|unable to verify|certificate signature/.test(reason)),
  );
  assert.equal(new Set(warnings).size, warnings.length);
  await renew('client', second);
  await session.untilSynced();
  assert.equal(session.generation, 2);
});
