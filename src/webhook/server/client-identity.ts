/**
 * Recognises the API server among the clients of the webhook's port: its certificate is signed by the authority that the operator
 * configured, and has one of the configured names. An address, a path or a text in a review proves nothing, since other clients reach the
 * port as well.
 */
import type { TLSSocket } from 'node:tls';

/** The common name with which API servers identify themselves to aggregated API servers, as kubeadm sets it. */
export const CLIENT_NAME = 'front-proxy-client';

/**
 * What the webhook does for a client without a proven identity. `answer`: it allows or denies, without details of objects that the client
 * may not see.
 */
export const UNKNOWN_CLIENTS = ['answer', 'refuse'] as const;
export type UnknownClients = (typeof UNKNOWN_CLIENTS)[number];

/** @param names allowed common names in the certificate's subject */
export function isProven(socket: TLSSocket, names: readonly string[]): boolean {
  // OpenSSL has verified the chain, the validity and the purpose (client authentication).
  if (!socket.authorized) return false;
  const { subject } = socket.getPeerCertificate() as { readonly subject?: { readonly CN?: unknown } };
  return typeof subject?.CN === 'string' && names.includes(subject.CN);
}
