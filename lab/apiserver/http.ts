/** HTTPS in front of the store: authentication, routing, replies, watches. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { Gate } from './authorization/gate.ts';
import type { ServiceAccountTokens } from './authorization/service-account-tokens.ts';
import type { User } from './authorization/user.ts';
import { aggregatedDiscovery, allGroups, coreVersions, groupInfo, groupList, resourceList } from './discovery.ts';
import type { Verb } from './faults/fault.ts';
import { answerFaultRequest } from './faults/fault-requests.ts';
import type { Call, Faults } from './faults/faults.ts';
import { health, rootPaths } from './health.ts';
import type { JsonObject } from './json.ts';
import { negotiate, wantsYaml } from './negotiate.ts';
import type { OpenApi } from './openapi.ts';
import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import type { Reply } from './reply.ts';
import { encodeReply } from './reply.ts';
import { parseTarget, readObject } from './request.ts';
import type { ResourceHandler, ResourceRequest } from './resource-handler.ts';
import { review } from './reviews.ts';
import { ApiError, badRequest, methodNotAllowed } from './status.ts';
import type { Credentials } from './tls.ts';
import { visible } from '../../src/text/visible-text.ts';
import { VERSION } from './version.ts';
import { isTrue, newWayToWatch, watchOptionsOf } from './watch-request.ts';
import type { WatchOptions } from './watch-stream.ts';
import { WatchStream } from './watch-stream.ts';
import { yamlOf } from './yaml.ts';

export interface HttpOptions {
  readonly credentials: Credentials;
  readonly operations: Operations;
  readonly registry: ResourceRegistry;
  readonly resources: ResourceHandler;
  readonly openApi: OpenApi;
  readonly tokens: ServiceAccountTokens;
  readonly bookmarkIntervalMs: number;
  readonly faults: Faults;
  /** Called with each request before it is handled. */
  readonly onRequest?: (request: IncomingMessage) => void;
  /** Takes over streams into pods, which a kubelet would serve; without it such a request is no stream. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex) => void;
}

const AGGREGATED = /application\/json;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*v=v2(?:[;,]|$))(?=[^,]*as=APIGroupDiscoveryList)/;
const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const OPENAPI_V2_PROTOBUF = /^application\/com\.github\.proto-openapi\.spec\.v2[@.]v1\.0\+protobuf\s*$/;

export class ApiHttpServer {
  readonly #options: HttpOptions;
  readonly #server: Server;
  readonly #gate: Gate;
  readonly #watches = new Set<WatchStream>();
  #bookmarks: NodeJS.Timeout | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#gate = new Gate(options.operations.store, options.tokens);
    const { server, authority } = options.credentials;
    this.#server = createServer(
      { key: server.key, cert: server.certificate, ca: authority, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        void this.#serve(request, response);
      },
    );
    const { onUpgrade } = options;
    if (onUpgrade !== undefined) this.#server.on('upgrade', (request, socket) => onUpgrade(request, socket));
    this.#server.keepAliveTimeout = 120_000;
    this.#server.requestTimeout = 0;
  }

  /** @returns the port. */
  async listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    this.#bookmarks = setInterval(() => {
      for (const watch of this.#watches) watch.bookmark();
    }, this.#options.bookmarkIntervalMs);
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    clearInterval(this.#bookmarks);
    for (const watch of [...this.#watches]) watch.end();
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    // Closes repeatedly: a connection in its TLS handshake is not closed, and may start a watch afterwards.
    const again = setInterval(() => this.#server.closeAllConnections(), 20);
    this.#server.closeAllConnections();
    await closed;
    clearInterval(again);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const asked = new URL(request.url ?? '/', 'https://lab');
      const url = request.method === 'GET' ? newWayToWatch(asked) : asked;
      const user = this.#gate.admit(url, request);
      this.#options.onRequest?.(request);
      const { faults } = this.#options;
      const control = await answerFaultRequest(faults, url.pathname, request);
      if (control !== undefined) {
        send(response, control);
        return;
      }
      const cut = await faults.beforeRequest(callOf(url, request));
      if (cut === 'before') response.destroy();
      if (response.destroyed) return;
      const reply = await this.#route(url, request, response, user);
      if (cut === 'after') response.destroy();
      else if (reply !== undefined) send(response, reply);
    } catch (error) {
      this.#fail(response, error);
    }
  }

  #fail(response: ServerResponse, error: unknown): void {
    const known =
      error instanceof ApiError
        ? error
        : error instanceof URIError
          ? badRequest(error.message)
          : new ApiError(
              500,
              'InternalError',
              `Internal error occurred: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
            );
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // The rest of the body stays unread.
    if (known.code === 413) response.setHeader('Connection', 'close');
    if (known.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(known.retryAfterSeconds));
    send(response, { status: known.code, body: known.toStatus() });
  }

  async #route(url: URL, request: IncomingMessage, response: ServerResponse, user: User): Promise<Reply | undefined> {
    const path = url.pathname.replace(/\/+$/, '');
    const document = this.#document(path, url.searchParams, request, response);
    if (document === null) return undefined;
    if (document !== undefined) return { status: 200, body: document };
    const target = parseTarget(url.pathname);
    if (target === undefined) return notThere(response);
    if (request.method === 'POST') {
      const answer =
        target.name === ''
          ? await review(target, () => readObject(request), user, { store: this.#options.operations.store, tokens: this.#options.tokens })
          : undefined;
      if (answer !== undefined) return { status: 201, body: answer };
    }
    const definition = this.#options.registry.find(target.group, target.version, target.plural);
    if (definition === undefined || (!definition.namespaced && target.namespace !== '')) {
      const isBuiltIn = ({ custom, group, version }: ResourceDefinition): boolean =>
        !custom && group === target.group && version === target.version;
      if (!this.#options.registry.all().some(isBuiltIn)) return notThere(response);
      throw new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
    }
    if (definition.namespaced && target.namespace === '' && (target.name !== '' || request.method !== 'GET')) {
      if (definition.custom || target.name !== '') return notThere(response);
      throw new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
    }
    if (definition.table === 'serviceaccounts' && target.subresource === 'token' && request.method === 'POST') {
      const answer = this.#options.tokens.issue(definition, target.namespace, target.name, await readObject(request));
      return { status: 201, body: answer };
    }
    const resourceRequest: ResourceRequest = { definition, target, query: url.searchParams, message: request, user };
    // A GET of one object by name ignores `watch`.
    if (request.method === 'GET' && target.name === '' && isTrue(url.searchParams.get('watch'))) {
      if (!definition.verbs.includes('watch')) throw methodNotAllowed(definition, 'watch');
      this.#watch(resourceRequest, callOf(url, request), response);
      return undefined;
    }
    return this.#options.resources.handle(resourceRequest);
  }

  /** Documents that are not resources. @returns null when it has already replied. */
  #document(path: string, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): JsonObject | null | undefined {
    const { registry, openApi } = this.#options;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    const aggregated = AGGREGATED.test(request.headers.accept?.replaceAll(' ', '') ?? '');
    const healthText = health(path, query);
    if (healthText !== undefined) {
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' }).end(healthText);
      return null;
    }
    switch (path) {
      case '':
        return { paths: rootPaths(allGroups(registry)) };
      case '/version':
        return VERSION;
      case '/api':
      case '/apis':
        if (aggregated) {
          response
            .writeHead(200, { 'Content-Type': AGGREGATED_TYPE, Vary: 'Accept' })
            .end(JSON.stringify(aggregatedDiscovery(registry, path === '/api')));
          return null;
        }
        return path === '/api' ? coreVersions(request.headers.host ?? '127.0.0.1') : groupList(registry);
      case '/openapi/v2':
        if (OPENAPI_V2_PROTOBUF.test(request.headers.accept ?? '')) {
          // An empty document makes kubectl validate with v3, and ignore kinds that are missing there.
          response.writeHead(200, { 'Content-Type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' }).end();
          return null;
        }
        negotiate(request.headers.accept, new URLSearchParams());
        return openApi.v2();
      case '/openapi/v3':
        return openApi.v3Index();
    }
    if (path.startsWith('/openapi/v3/')) return openApi.v3(path.slice('/openapi/v3/'.length));
    const group = /^\/(?:(api)|apis\/([^/]+))(?:\/([^/]+))?$/.exec(path);
    if (group === null) return undefined;
    const name = group[1] === 'api' ? '' : (group[2] ?? '');
    const version = group[3];
    if (version === undefined) return groupInfo(registry, name);
    return allGroups(registry).get(name)?.includes(version) === true ? resourceList(registry, name, version) : undefined;
  }

  #watch(request: ResourceRequest, call: Call, response: ServerResponse): void {
    const fault: WatchOptions['fault'] = (isBookmark) => this.#options.faults.beforeEvent(call, isBookmark);
    const watch = new WatchStream(this.#options.operations, response, { ...watchOptionsOf(request), fault });
    this.#watches.add(watch);
    watch.start(() => this.#watches.delete(watch));
  }
}

/** The request in the form that faults match. */
function callOf(url: URL, request: IncomingMessage): Call {
  const { group = '', plural = '', namespace = '', name = '', subresource = '' } = parseTarget(url.pathname) ?? {};
  const verb = verbOf(request.method ?? '', name !== '', isTrue(url.searchParams.get('watch')));
  const resource = `${plural}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  return { verb, resource, namespace, name, userAgent: request.headers['user-agent'] ?? '' };
}

function verbOf(method: string, isNamed: boolean, isWatch: boolean): Verb {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isNamed ? 'delete' : 'deletecollection';
    default:
      return isNamed ? 'get' : isWatch ? 'watch' : 'list';
  }
}

function notThere(response: ServerResponse): undefined {
  response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' }).end('404 page not found\n');
  return undefined;
}

function send(response: ServerResponse, reply: Reply): void {
  if (reply.status === 204) {
    response.writeHead(204).end();
    return;
  }
  const yaml = wantsYaml(response.req.headers.accept);
  const type = yaml ? 'application/yaml' : 'application/json';
  const headers: Record<string, string | string[]> = { 'Content-Type': type, 'Cache-Control': 'no-cache, private' };
  if (reply.warnings !== undefined && reply.warnings.length > 0) headers['Warning'] = reply.warnings.map(warningHeader);
  const text = encodeReply(reply.body);
  response.writeHead(reply.status, headers).end(yaml ? yamlOf(text) : `${text}\n`);
}

/** A warning contains text of clients: it must not end the header, and characters beyond ASCII are sent as UTF-8 bytes. */
function warningHeader(text: string): string {
  return `299 - ${JSON.stringify(Buffer.from(visible(text), 'utf8').toString('latin1'))}`;
}
