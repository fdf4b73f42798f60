/** A webhook server in its own process with the real limits: the memory that clients occupy is the memory of this process. */
import { CertificateAuthority } from '../../certificates/authority.ts';
import { SILENT } from '../../runtime/log.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import { WEBHOOK_LIMITS, WebhookServer } from '../server/webhook-server.ts';

const authority = new CertificateAuthority('ca', { from: Date.now() - 1_000, until: Date.now() + 3_600_000 });
const server = await WebhookServer.start({
  host: '127.0.0.1',
  port: 0,
  credential: authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] }),
  review: () => ALLOWED,
  log: SILENT,
  // Clients that have proven to be an API server: only their bodies may be this long.
  limits: { unknownBody: WEBHOOK_LIMITS.body },
});
// The garbage is collected first: when the engine would do that by itself depends on the load of the machine.
process.on('message', (asked) => {
  if (asked === 'what stays') globalThis.gc?.();
  process.send?.({ ...server.holds, rss: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port, authority: authority.certificate });
