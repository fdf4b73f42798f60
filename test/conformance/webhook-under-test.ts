/** A validating webhook that a case answers for, and the configuration that makes an API server ask it. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCredentials } from '../../lab/apiserver/tls.ts';
import type { Fields } from './https-client.ts';

export interface AdmissionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: Fields & { readonly uid: string; readonly name?: string; readonly operation: string };
}

/** The answer's `response` without its uid; undefined: never answers; a number: this HTTP status. */
export type Answer = Fields | number | undefined;

export interface WebhookUnderTest {
  readonly reviews: AdmissionReview[];
  readonly paths: string[];
  readonly port: number;
  readonly caBundle: string;
  close(): void;
}

/** What a control plane puts into each namespace, at any time again: it is let through, and no review of a case's. */
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
  // A server that asks again after a while must not meet a connection that is just being closed.
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
