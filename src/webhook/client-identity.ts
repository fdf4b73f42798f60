/**
 * Which client of the webhook's port is the API server: the one that shows a certificate of the authority that its operator names, for one of
 * the names that the operator allows. An address, a path or a text in a review proves nothing: others reach the port as well.
 */
import type { TLSSocket } from 'node:tls';

/** The client that aggregated API servers know an API server by, as kubeadm names it. */
export const CLIENT_NAME = 'front-proxy-client';

/** What is done for a client that proves nothing. `answer`: it is told yes or no, and nothing of others' objects. */
export const UNKNOWN_CLIENTS = ['answer', 'refuse'] as const;
export type UnknownClients = (typeof UNKNOWN_CLIENTS)[number];

/** @param names allowed as common name of the certificate's subject */
export function isProven(socket: TLSSocket, names: readonly string[]): boolean {
  // OpenSSL has looked at the chain, the time, and that the certificate is one for clients.
  if (!socket.authorized) return false;
  const { subject } = socket.getPeerCertificate() as { readonly subject?: { readonly CN?: unknown } };
  return typeof subject?.CN === 'string' && names.includes(subject.CN);
}
