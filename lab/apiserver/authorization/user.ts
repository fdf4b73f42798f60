/** Who a request is from: the certificate's subject, a token's account, or whom one of them speaks for. */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { JsonObject } from '../json.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const ADMINISTRATORS = 'system:masters';
const AUTHENTICATED = 'system:authenticated';
const ANONYMOUS = 'system:anonymous';
export const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** Who has the laboratory's own certificate, and who asks without HTTP. */
export const ADMINISTRATOR: User = { name: 'kubernetes-admin', groups: [ADMINISTRATORS, AUTHENTICATED] };

/** As reviews and webhooks are told (`authentication.k8s.io/v1` UserInfo). */
export function userInfo({ name, groups, uid, extra }: User): JsonObject {
  const more = extra === undefined ? {} : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) };
  return { username: name, ...(uid === undefined ? {} : { uid }), groups: [...groups], ...more };
}

/** The groups that a service account is in by its name. */
export function accountGroups(name: string): readonly string[] {
  const [namespace = ''] = name.slice(ACCOUNT_PREFIX.length).split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** One for a connection: to read a certificate costs 40 µs. */
const CERTIFIED = new WeakMap<TLSSocket, User>();

/** From the certificate. @returns undefined when the laboratory's authority did not sign one */
export function certifiedUser(request: IncomingMessage): User | undefined {
  const socket = request.socket as TLSSocket;
  if (!socket.authorized) return undefined;
  let user = CERTIFIED.get(socket);
  if (user === undefined) CERTIFIED.set(socket, (user = userOf(socket)));
  return user;
}

function userOf(socket: TLSSocket): User {
  const { CN: name, O: organization } = socket.getPeerCertificate().subject;
  const groups = organization === undefined ? [] : [organization].flat();
  return { name: [name].flat()[0] ?? ADMINISTRATOR.name, groups: [...groups, AUTHENTICATED] };
}

/** Whom the request asks to be taken for. @returns undefined for nobody else */
export function impersonatedUser({ headers, headersDistinct }: IncomingMessage): User | undefined {
  const name = headers['impersonate-user'];
  if (typeof name !== 'string' || name === '') return undefined;
  const asked = headersDistinct['impersonate-group'] ?? [];
  const account = name.startsWith(ACCOUNT_PREFIX) && asked.length === 0 ? accountGroups(name) : [];
  const everybody = name === ANONYMOUS || asked.includes(AUTHENTICATED) ? [] : [AUTHENTICATED];
  const uid = headers['impersonate-uid'];
  const extra: Record<string, readonly string[]> = {};
  for (const [header, values] of Object.entries(headersDistinct))
    if (header.startsWith('impersonate-extra-') && values !== undefined)
      extra[decodeURIComponent(header.slice('impersonate-extra-'.length))] = values;
  return {
    name,
    groups: [...asked, ...account, ...everybody],
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Whether only a name is missing: groups and other things cannot be asked for without one. */
export function lacksImpersonatedName({ headers }: IncomingMessage): boolean {
  return (
    (headers['impersonate-user'] ?? '') === '' &&
    Object.keys(headers).some(
      (header) => header === 'impersonate-group' || header === 'impersonate-uid' || header.startsWith('impersonate-extra-'),
    )
  );
}
