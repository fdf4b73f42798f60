/** The user of a request: the subject of its certificate, the account of its token, or the user that one of them impersonates. */
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

/** The user with the laboratory's own certificate, and the user of calls without HTTP. */
export const ADMINISTRATOR: User = { name: 'kubernetes-admin', groups: [ADMINISTRATORS, AUTHENTICATED] };

/** The user in reviews (`authentication.k8s.io/v1` UserInfo). */
export function userInfo({ name, groups, uid, extra }: User): JsonObject {
  const more = extra === undefined ? {} : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) };
  return { username: name, ...(uid === undefined ? {} : { uid }), groups: [...groups], ...more };
}

/** The groups of a service account, by its name. */
export function accountGroups(name: string): readonly string[] {
  const [namespace = ''] = name.slice(ACCOUNT_PREFIX.length).split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** The user of each connection, since parsing a certificate takes 40 µs. */
const CERTIFIED = new WeakMap<TLSSocket, User>();

/** The user of the client certificate. @returns undefined if the laboratory's authority did not sign it */
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

/** The user that the request impersonates. @returns undefined without impersonation */
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

/** Whether the request impersonates groups, a uid or `extra` without a user name, which is invalid. */
export function lacksImpersonatedName({ headers }: IncomingMessage): boolean {
  return (
    (headers['impersonate-user'] ?? '') === '' &&
    Object.keys(headers).some(
      (header) => header === 'impersonate-group' || header === 'impersonate-uid' || header.startsWith('impersonate-extra-'),
    )
  );
}
