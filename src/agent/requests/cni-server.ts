/** The socket of the CNI plugin: HTTP with JSON, as Kube-OVN's daemon has it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { chmod, mkdir, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOvnProvider } from '../../api/names.ts';
import type { InterfaceRequest } from '../../cni/agent-protocol.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import type { Log } from '../../runtime/log.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { type NodeStatus, STATUS_PATH } from '../status/node-status.ts';
import type { PreviousResult } from '../kernel/device-differences.ts';
import { routeOf } from '../rules/device-route.ts';
import { attachmentKey } from '../world/attachment.ts';
import { type Malformed, type Read, readCollectRequest, readInterfaceRequest } from './request-body.ts';
import { isServed } from './is-served.ts';
import { isNodeNamespace, isOfUnseenProcess } from './node-namespace.ts';
import { requestProblem } from './request-problem.ts';
import type { Reply, RequestsTarget } from './requests-target.ts';

const MOST_BYTES = 1024 * 1024;
/** Only root asks: the container runtime. */
const MODE = 0o600;
/** The socket's file is looked for. */
const WATCH_MS = 5_000;
/** Requests about one interface, by path. */
const VERBS = new Map([
  ['/api/v1/add', 'add'],
  ['/api/v1/del', 'del'],
  ['/api/v1/check', 'check'],
] as const);
const COLLECT_PATH = '/api/v1/gc';
/** What changes something, or may: with `POST` alone. */
const POSTED: ReadonlySet<string> = new Set([...VERBS.keys(), COLLECT_PATH]);

export interface CniServerOptions {
  readonly socket: string;
  readonly requests: RequestsTarget;
  /** Path of the network namespace of the node as an external gateway, which may not exist. Missing: it has none. */
  readonly gatewayNamespace?: string;
  /** Why no ADD would succeed now; empty if it would. */
  readonly notReady: () => readonly string[];
  /** For `kiln agent status`. */
  readonly status: () => NodeStatus;
  readonly clock: Clock;
  readonly log: Log;
}

/** HTTP's status, and the body as JSON has it. */
export interface CniReply {
  readonly status: number;
  readonly body?: object;
}

export class CniServer {
  readonly #options: CniServerOptions;
  #server: Server;
  #timer: TimerHandle;
  #closed = false;
  /** Why no plugin can reach it now. */
  #problem: string | undefined;

  constructor(options: CniServerOptions) {
    this.#options = options;
    this.#server = this.#create();
  }

  /** What is missing, in words; empty while plugins can reach it. */
  get waitingFor(): readonly string[] {
    return this.#problem === undefined ? [] : [this.#problem];
  }

  /** @throws Error if the socket cannot be made, or another agent has it. Then nothing is left of it. */
  async listen(): Promise<void> {
    const { socket } = this.#options;
    if (await isServed(socket))
      throw new Error(
        `another agent of this node answers on ${socket}: stop it (Kube-OVN's has the same socket), or give this one --socket`,
      );
    await this.#bind();
    this.#watch();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  #create(): Server {
    return createServer((request, response) => void this.#serve(request, response));
  }

  async #bind(): Promise<void> {
    const { socket } = this.#options;
    let made: string | undefined;
    try {
      made = await mkdir(dirname(socket), { recursive: true });
      // The socket of an agent that was killed.
      await rm(socket, { force: true });
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen(socket, resolve);
      });
      await chmod(socket, MODE);
      this.#problem = undefined;
    } catch (error) {
      this.#server.close();
      // The server takes its socket with it.
      if (made !== undefined) await rm(made, { recursive: true, force: true });
      const folder = dirname(socket);
      this.#problem = `the socket ${socket} for the CNI plugin, which cannot be made: ${error instanceof Error ? error.message : String(error)}; df -h ${folder}; df -i ${folder}`;
      throw new Error(this.#problem, { cause: error });
    }
  }

  #watch(): void {
    this.#timer = this.#options.clock.setTimeout(() => void this.#look(), WATCH_MS);
  }

  /** Without its file no plugin reaches a socket, and nothing tells. Requests that are under way end on the old one. */
  async #look(): Promise<void> {
    const { socket, log } = this.#options;
    const exists = await stat(socket).then(
      () => true,
      () => false,
    );
    if (this.#closed) return;
    if (!exists) {
      log.warn('the socket for the CNI plugin was removed; it is made again', { socket });
      const before = this.#server;
      this.#server = this.#create();
      before.close();
      await this.#bind().catch((error: unknown) => log.warn('no pod can start on this node', { reason: String(error) }));
    }
    this.#watch();
  }

  /** What a request is answered, whichever way it came. @param gone aborted when the caller no longer waits for the answer */
  async reply(path: string, body: unknown, gone: AbortSignal): Promise<CniReply> {
    const { log } = this.#options;
    try {
      if (isStatus(path)) {
        const missing = this.#options.notReady();
        return missing.length === 0 ? { status: 200, body: {} } : failure(503, `the node agent waits for ${missing.join(', ')}`);
      }
      if (path === STATUS_PATH) return { status: 200, body: this.#options.status() };
      const reply = await this.#answer(path, body, gone);
      if (reply === undefined) return failure(404, `there is no ${path}`);
      if (!reply.ok) {
        log.warn('a request of the container runtime failed', { path, reason: reply.reason });
        return 'code' in reply ? malformed(reply) : failure(500, reply.reason);
      }
      return reply.reply === undefined ? { status: 204 } : { status: 200, body: reply.reply };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error('a request of the container runtime met a fault of the node agent', { path, reason });
      return failure(500, `the node agent failed: ${reason}`);
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const path = request.url ?? '';
    if (request.method !== 'POST' && POSTED.has(path)) {
      request.resume();
      const { status, body } = failure(405, `${path} is asked with POST, not with ${request.method}`);
      response.writeHead(status, { 'content-type': 'application/json', allow: 'POST' }).end(JSON.stringify(body));
      return;
    }
    const body = isStatus(path) ? ({ ok: true, value: undefined } as const) : await bodyOf(request);
    if (gone.signal.aborted) return;
    const reply = body.ok ? await this.reply(path, body.value, gone.signal) : malformed(body);
    const text = reply.body === undefined ? undefined : JSON.stringify(reply.body);
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text);
  }

  async #answer(path: string, body: unknown, signal: AbortSignal): Promise<Reply | Malformed | undefined> {
    const { requests } = this.#options;
    if (path === COLLECT_PATH) {
      const read = readCollectRequest(body);
      if (!read.ok) return read;
      requests.collect(new Set(read.value.attachments.map(({ container_id, if_name }) => attachmentKey(container_id, if_name || 'eth0'))));
      return { ok: true, reply: undefined };
    }
    const verb = (VERBS as ReadonlyMap<string, 'add' | 'del' | 'check'>).get(path);
    if (verb === undefined) return undefined;
    const read = readInterfaceRequest(body, verb);
    if (!read.ok) return read;
    const request = read.value;
    const interfaceName = request.if_name || 'eth0';
    const key = attachmentKey(request.container_id, interfaceName);
    switch (verb) {
      case 'add': {
        const problem = requestProblem(request);
        if (problem !== undefined) return { ok: false, reason: problem };
        if (isOfUnseenProcess(request.net_ns)) return ofUnseenProcess(request.net_ns);
        // A DEL needs no such look: it is about what an ADD made, and none made anything there.
        if (isNodeNamespace(request.net_ns)) return ofNode(request.net_ns);
        const { gatewayNamespace } = this.#options;
        if (gatewayNamespace !== undefined && isNodeNamespace(request.net_ns, [gatewayNamespace]))
          return ofGateway(request.net_ns, gatewayNamespace);
        if (signal.aborted) return { ok: false, reason: 'the runtime did not wait for the answer' };
        return await requests.add(
          {
            key,
            containerId: request.container_id,
            interfaceName,
            namespacePath: request.net_ns,
            pod: { namespace: request.pod_namespace, name: request.pod_name },
            ...(request.pod_uid ? { podUid: request.pod_uid } : {}),
            provider: request.provider || 'ovn',
            routes: request.routes ?? [],
          },
          signal,
        );
      }
      case 'del':
        return await requests.remove(key);
      case 'check':
        // Of addresses for another plugin nothing is on the node, and a restarted agent knows nothing of them.
        return isOvnProvider(request.provider) ? await requests.check(key, previousOf(request)) : { ok: true, reply: undefined };
    }
  }
}

function failure(status: number, error: string): CniReply {
  return { status, body: { error } };
}

function isStatus(path: string): boolean {
  return path === '/api/v1/status' || path === '/livez';
}

function ofNode(path: string): Malformed {
  const reason = `field net_ns of the request is ${JSON.stringify(path)}, the network namespace of the node itself, and must be a pod's: an interface there would take the node's routes; ls -iL ${path} /proc/1/ns/net`;
  return { ok: false, code: 'RequestInvalid', field: 'net_ns', reason };
}

function ofUnseenProcess(path: string): Malformed {
  const reason = `field net_ns of the request is ${JSON.stringify(path)}, and the agent does not see this process: this runtime needs hostPID: true in the agent's pod; helm upgrade kiln charts/kiln -n kube-system --reset-then-reuse-values --set agent.hostPID=true`;
  return { ok: false, code: 'RequestInvalid', field: 'net_ns', reason };
}

function ofGateway(path: string, gateway: string): Malformed {
  const reason = `field net_ns of the request is ${JSON.stringify(path)}, the network namespace of this node as an external gateway (${gateway}), and must be a pod's: an interface there would take the routes of the gateway; ls -iL ${path} ${gateway}`;
  return { ok: false, code: 'RequestInvalid', field: 'net_ns', reason };
}

/** Routes whose gateway is in no network of the interface are another one's, which a later plugin made. */
function previousOf({ previous }: InterfaceRequest): PreviousResult | undefined {
  if (previous === undefined) return undefined;
  const networks = previous.addresses.flatMap((address) => parseCidr(address) ?? []);
  const routes = previous.routes.flatMap(({ dst, gw }) => {
    const gateway = parseAddress(gw);
    const isOwn = gateway !== undefined && networks.some((network) => network.family === gateway.family && cidrContains(network, gateway));
    return isOwn ? (routeOf(dst, gw) ?? []) : [];
  });
  return { mac: previous.mac, addresses: previous.addresses, routes };
}

function malformed({ code, field, reason }: Malformed): CniReply {
  const status = code === 'RequestTooLarge' ? 413 : 400;
  return { status, body: { error: reason, code, ...(field === undefined ? {} : { field }) } };
}

/** What is too long is read to its end, and thrown away: a client that still writes would not see the answer. */
async function bodyOf(request: IncomingMessage): Promise<Read<unknown>> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) chunks.length = 0;
      else chunks.push(chunk);
    }
  } catch {
    return { ok: false, code: 'RequestInvalid', reason: 'the request ended before its end' };
  }
  if (size > MOST_BYTES)
    return { ok: false, code: 'RequestTooLarge', reason: `the request has ${size} bytes, and at most ${MOST_BYTES} are read` };
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown };
  } catch (error) {
    return {
      ok: false,
      code: 'RequestInvalid',
      reason: `the request is no JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
