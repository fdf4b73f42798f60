/** A validating webhook whose answers the case gives, and the configuration with which an API server calls it. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCredentials } from '../../lab/apiserver/tls.ts';
import type { Fields } from './https-client.ts';

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: Fields & { readonly uid: string; readonly name?: string; readonly operation: string };
}

/** The `response` without its uid; undefined: no answer at all; a number: this HTTP status. */
export type Answer = Fields | number | undefined;

export interface WebhookUnderTest {
  readonly reviews: AdmissionReview[];
  readonly paths: string[];
  readonly port: number;
  readonly caBundle: string;
  close(): void;
}

/** The control plane writes this ConfigMap into each namespace at any time: it is allowed, and not recorded as a review of the case. */
const AUTHORITY = 'kube-root-ca.crt';

export async function startWebhook(answer: (review: AdmissionReview) => Answer): Promise<WebhookUnderTest> {
  const { server, authority } = createCredentials(Date.now());
  const reviews: AdmissionReview[] = [];
  const paths: string[] = [];
  const listener = createServer({ key: server.key, cert: server.certificate }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as AdmissionReview;
      const isOwn = review.request.name !== AUTHORITY;
      if (isOwn) {
        reviews.push(review);
        paths.push(request.url ?? '');
      }
      const given = isOwn ? answer(review) : { allowed: true };
      if (given === undefined) return;
      if (typeof given === 'number') {
        response.writeHead(given).end();
        return;
      }
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: review.request.uid, ...given } }),
      );
    });
  });
  // Otherwise a later request of the server could reach a connection that is just being closed.
  listener.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
  return {
    reviews,
    paths,
    port: (listener.address() as AddressInfo).port,
    caBundle: Buffer.from(authority).toString('base64'),
    close: () => {
      listener.closeAllConnections();
      listener.close();
    },
  };
}
