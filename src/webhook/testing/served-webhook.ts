/** A webhook's server in a process of its own, with the limits of a real one: what clients make it hold is what its process holds. */
import { CertificateAuthority } from '../../certificates/authority.ts';
import { SILENT } from '../../runtime/log.ts';
import { NO_OPINION } from '../opinion.ts';
import { WEBHOOK_LIMITS, WebhookServer } from '../webhook-server.ts';

const authority = new CertificateAuthority('ca', { from: Date.now() - 1_000, until: Date.now() + 3_600_000 });
const server = await WebhookServer.start({
  host: '127.0.0.1',
  port: 0,
  credential: authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] }),
  judge: () => NO_OPINION,
  log: SILENT,
  // As of clients that have shown the certificate of an API server: those are the ones whose bodies may be so long.
  limits: { unknownBody: WEBHOOK_LIMITS.body },
});
process.on('message', () => process.send?.({ ...server.holds, rss: process.memoryUsage.rss() }));
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port, authority: authority.certificate });
