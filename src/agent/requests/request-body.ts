/** Bodies of requests of the CNI plugin, read field by field: whoever may write to the socket may write anything. Pure. */
import type { CollectRequest, InterfaceRequest, PreviousInterface, RouteRequest } from '../../cni/agent-protocol.ts';
import { canonicalAddress } from '../../net/address.ts';
import { routeOf } from '../rules/device-route.ts';

/** What is wrong with a body, for the answer. */
export interface Malformed {
  readonly ok: false;
  /** `RequestInvalid`: status 400; `RequestTooLarge`: status 413. */
  readonly code: 'RequestInvalid' | 'RequestTooLarge';
  /** As `routes[0].gw`; missing if it is the whole body. */
  readonly field?: string;
  readonly reason: string;
}

export type Read<T> = { readonly ok: true; readonly value: T } | Malformed;

type Fields = Readonly<Record<string, unknown>>;
/** What a text has to be. */
type Form = readonly [form: RegExp, rule: string];

const MOST_CHARACTERS = 4_096;
const MOST_SHOWN = 60;
const ANY: Form = [/^/, 'a text'];
const NAME: Form = [/^[\w.-]{0,253}$/, 'a name of letters, digits, "-", "_" and ".", of at most 253 characters'];
/** Of the CNI specification. */
const CONTAINER: Form = [/^[A-Za-z0-9][\w.-]*$/, 'the id of a container: a letter or digit, then letters, digits, "-", "_" and "."'];
/** As Linux takes them; empty for `eth0`. */
const INTERFACE: Form = [
  /^(?:|(?!\.{1,2}$)[^\s/:]{1,15})$/,
  'no name of an interface: at most 15 characters, and none of them a space, "/" or ":"',
];
/** What an ADD makes: a DEL of one that no ADD made succeeds. Of `%d` Linux makes a number; quotes, `#` and `\\` mean something to `ip -batch`. */
const NEW_INTERFACE: Form = [
  /^(?!lo$|-)[^\s\p{Cc}/:%"'#\\]*$/u,
  'no name of a new interface: not "lo", no "-" in front, and none of its characters a space, "/", ":", "%", a quote, "#" or "\\"',
];
const MOST_BYTES_OF_INTERFACE = 15;
const NAMESPACE: Form = [/^(?:|\/[^\s"'#\\]*)$/, 'the path of a network namespace'];

/** Those that a request must have, also if they are empty. */
const REQUIRED = {
  container_id: CONTAINER,
  net_ns: NAMESPACE,
  pod_name: NAME,
  pod_namespace: NAME,
  if_name: INTERFACE,
  provider: NAME,
} as const;
/** Null is as good as missing. */
const OPTIONAL = {
  cni_type: ANY,
  pod_uid: NAME,
  vf_driver: ANY,
  deviceID: ANY,
  vhost_user_socket_volume_name: ANY,
  vhost_user_socket_name: ANY,
  vhost_user_socket_consumption: ANY,
} as const;

/** A DEL may be about what is gone. */
const NEEDED_TO_ADD = ['net_ns', 'pod_name', 'pod_namespace'] as const;

/** Of ADD, DEL and CHECK. `dns` is not read: the agent has no use for it. */
export function readInterfaceRequest(body: unknown, verb: 'add' | 'del' | 'check'): Read<InterfaceRequest> {
  if (!isObject(body)) return noObject(body);
  for (const [field, form] of Object.entries(REQUIRED)) {
    const problem = textProblem(field, body[field], form);
    if (problem !== undefined) return problem;
  }
  const empty = NEEDED_TO_ADD.find((field) => verb === 'add' && body[field] === '');
  if (empty !== undefined) return invalid(empty, `field ${empty} of the request is empty, and must be ${REQUIRED[empty][1]}`);
  const unfit = verb === 'del' ? undefined : newNameProblem(String(body['if_name']));
  if (unfit !== undefined) return unfit;
  const given = Object.entries(OPTIONAL).filter(([field]) => (body[field] ?? undefined) !== undefined);
  for (const [field, form] of given) {
    const problem = textProblem(field, body[field], form);
    if (problem !== undefined) return problem;
  }
  const routes = readRoutes('routes', body['routes'] ?? []);
  if (!routes.ok) return routes;
  const previous = readPrevious(body['previous'] ?? undefined);
  if (!previous.ok) return previous;
  const texts = Object.fromEntries([...Object.keys(REQUIRED), ...given.map(([field]) => field)].map((field) => [field, body[field]]));
  const more = { routes: routes.value, ...(previous.value !== undefined && { previous: previous.value }) };
  return { ok: true, value: { ...(texts as unknown as InterfaceRequest), ...more } };
}

function newNameProblem(name: string): Malformed | undefined {
  const bytes = new TextEncoder().encode(name).length;
  if (bytes > MOST_BYTES_OF_INTERFACE)
    return invalid(
      'if_name',
      `field if_name of the request is ${JSON.stringify(name)}, of ${bytes} bytes: Linux takes at most ${MOST_BYTES_OF_INTERFACE}`,
    );
  return textProblem('if_name', name, NEW_INTERFACE);
}

/** Of GC. */
export function readCollectRequest(body: unknown): Read<CollectRequest> {
  if (!isObject(body)) return noObject(body);
  const { attachments } = body;
  // Without a list nothing is known, and an empty one would say that all interfaces are gone.
  if (!Array.isArray(attachments)) return wrong('attachments', attachments, 'a list');
  for (const [at, one] of attachments.entries()) {
    const field = `attachments[${at}]`;
    if (!isObject(one)) return wrong(field, one, 'an object');
    const problem =
      textProblem(`${field}.container_id`, one['container_id'], CONTAINER) ?? textProblem(`${field}.if_name`, one['if_name'], INTERFACE);
    if (problem !== undefined) return problem;
  }
  return { ok: true, value: { attachments: attachments as CollectRequest['attachments'] } };
}

function readPrevious(previous: unknown): Read<PreviousInterface | undefined> {
  if (previous === undefined) return { ok: true, value: undefined };
  if (!isObject(previous)) return wrong('previous', previous, 'an object');
  const { mac, addresses } = previous;
  const problem = textProblem('previous.mac', mac, ANY);
  if (problem !== undefined) return problem;
  if (!Array.isArray(addresses)) return wrong('previous.addresses', addresses, 'a list');
  const read: string[] = [];
  for (const [at, address] of addresses.entries()) {
    const field = `previous.addresses[${at}]`;
    const unread = textProblem(field, address, ANY);
    if (unread !== undefined) return unread;
    const [host = '', length] = String(address).split('/', 2);
    const canonical = canonicalAddress(host);
    if (canonical === undefined || !/^\d{1,3}$/.test(length ?? ''))
      return invalid(field, `field ${field} of the request is ${shown(JSON.stringify(address))}, no address with the length of its prefix`);
    read.push(`${canonical}/${Number(length)}`);
  }
  const routes = readRoutes('previous.routes', previous['routes']);
  return routes.ok ? { ok: true, value: { mac: String(mac).toLowerCase(), addresses: read, routes: routes.value } } : routes;
}

function readRoutes(of: string, routes: unknown): Read<readonly RouteRequest[]> {
  if (!Array.isArray(routes)) return wrong(of, routes, 'a list');
  const read: RouteRequest[] = [];
  for (const [at, route] of routes.entries()) {
    const field = `${of}[${at}]`;
    if (!isObject(route)) return wrong(field, route, 'an object');
    const { dst, gw } = route;
    const problem = textProblem(`${field}.dst`, dst, ANY) ?? textProblem(`${field}.gw`, gw, ANY);
    if (problem !== undefined) return problem;
    const texts = { dst: String(dst), gw: String(gw) };
    if (routeOf(texts.dst, texts.gw) === undefined)
      return invalid(
        field,
        `field ${field} of the request is ${shown(JSON.stringify(texts))}, no route: dst is a network and gw an address of its family`,
      );
    read.push(texts);
  }
  return { ok: true, value: read };
}

function textProblem(field: string, value: unknown, [form, rule]: Form): Malformed | undefined {
  if (typeof value !== 'string') return wrong(field, value, 'a text');
  if (value.length > MOST_CHARACTERS)
    return invalid(field, `field ${field} of the request has ${value.length} characters, and at most ${MOST_CHARACTERS} are read`);
  if (form.test(value)) return undefined;
  const says = rule.startsWith('no ') ? `, ${rule}` : `, and must be ${rule}`;
  return invalid(field, `field ${field} of the request is ${shown(JSON.stringify(value))}${says}`);
}

function wrong(field: string, value: unknown, rule: string): Malformed {
  return invalid(field, `field ${field} of the request is ${kindOf(value)}, and must be ${rule}`);
}

function noObject(body: unknown): Malformed {
  return { ok: false, code: 'RequestInvalid', reason: `the request is ${kindOf(body)}, and must be a JSON object` };
}

function invalid(field: string, reason: string): Malformed {
  return { ok: false, code: 'RequestInvalid', field, reason };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of any depth: a whole value is never printed. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'a text' : String(value);
}

function shown(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`;
}
