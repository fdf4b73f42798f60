/** What kubelet asks on a connection, and whose probe that is. Pure. */
import type { HttpProbe, Probe } from '../world/probe.ts';

/** Longer ones are no requests of kubelet. */
export const MOST_HEAD_BYTES = 16 * 1024;
const HTTP2 = 'PRI * HTTP/2.0';
/** Of the first record of TLS. */
const TLS_HANDSHAKE = 0x16;

export interface HttpRequest {
  /** With its query. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
}

export type Beginning =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'tls' }
  /** HTTP/2 without TLS. */
  | { readonly kind: 'grpc' }
  | { readonly kind: 'http'; readonly request: HttpRequest }
  /** Nothing that kubelet sends. */
  | { readonly kind: 'foreign' };

/** @param bytes the first of a connection */
export function beginningOf(bytes: Buffer): Beginning {
  if (bytes[0] === TLS_HANDSHAKE) return { kind: 'tls' };
  const text = bytes.toString('latin1');
  if (HTTP2.startsWith(text.slice(0, HTTP2.length))) return text.length < HTTP2.length ? { kind: 'incomplete' } : { kind: 'grpc' };
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return bytes.length < MOST_HEAD_BYTES ? { kind: 'incomplete' } : { kind: 'foreign' };
  const [line = '', ...fields] = text.slice(0, end).split('\r\n');
  const path = /^GET (\S+) HTTP\/1\.[01]$/.exec(line)?.[1];
  // One request, and nothing after it.
  if (path === undefined || end + 4 !== bytes.length) return { kind: 'foreign' };
  const headers = new Map<string, string[]>();
  for (const field of fields) {
    const colon = field.indexOf(':');
    if (colon < 1) return { kind: 'foreign' };
    const name = field.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), field.slice(colon + 1).trim()]);
  }
  // A body would follow.
  return headers.has('content-length') || headers.has('transfer-encoding')
    ? { kind: 'foreign' }
    : { kind: 'http', request: { path, headers } };
}

/** Whether the probe is what was asked: the path, and each of its headers. */
export function isProbe(probe: Probe, { path, headers }: HttpRequest, tls: boolean): probe is HttpProbe {
  return (
    probe.kind === 'http' &&
    probe.tls === tls &&
    samePath(probe.path, path) &&
    probe.headers.every(([name, value]) => headers.get(name.toLowerCase())?.includes(value.trim()) === true)
  );
}

/** Kubelet escapes what the pod has, and puts a slash before it. */
export function samePath(wanted: string, asked: string): boolean {
  return decoded(wanted.startsWith('/') ? wanted : `/${wanted}`) === decoded(asked);
}

function decoded(path: string): string {
  const [beforeFragment = ''] = path.split('#');
  try {
    return decodeURIComponent(beforeFragment);
  } catch {
    return beforeFragment;
  }
}

export interface HttpAnswer {
  readonly status: number;
  /** Path of the same host that kubelet asks next; undefined for none. */
  readonly redirect: string | undefined;
}

/** Undefined: no answer of HTTP. */
export function answerOf(bytes: Buffer): HttpAnswer | undefined {
  const [head = ''] = bytes.toString('latin1').split('\r\n\r\n', 1);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 0) return undefined;
  const location = status >= 300 && status < 400 ? /\r\nlocation: *(\S+)/i.exec(head)?.[1] : undefined;
  // To another host kubelet does not follow, and its listener would not know the request.
  const path = location === undefined ? undefined : /^(?:https?:\/\/[^/?#]+)?([/?][^#]*)?/i.exec(location)?.[1];
  return { status, redirect: location === undefined ? undefined : path === undefined || path === '' ? '/' : path };
}
