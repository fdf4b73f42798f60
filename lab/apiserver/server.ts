/** The laboratory's API server: a store, the controllers that every cluster has, and HTTPS. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ValidatingWebhooks } from './admission/validating-webhooks.ts';
import { ServiceAccountTokens } from './authorization/service-account-tokens.ts';
import { builtinResources } from './builtin/kinds.ts';
import { ClusterObjects } from './cluster-objects.ts';
import { CustomResources } from './custom-resources.ts';
import { keptCredentials } from './disk/kept-credentials.ts';
import { StateDirectory } from './disk/state-directory.ts';
import type { Environment } from './environment.ts';
import { systemEnvironment } from './environment.ts';
import { Faults } from './faults/faults.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { ApiHttpServer } from './http.ts';
import { kubeconfig } from './kubeconfig.ts';
import { NamespaceLifecycle } from './namespace-lifecycle.ts';
import { refuseHugeObjects } from './object-size.ts';
import { OpenApi } from './openapi.ts';
import { Operations } from './operations.ts';
import { ResourceRegistry } from './registry.ts';
import { ResourceHandler } from './resource-handler.ts';
import { RoleAggregation } from './role-aggregation.ts';
import { ListSnapshots } from './snapshots.ts';
import { ObjectStore } from './store.ts';
import { createCredentials, createFrontProxy } from './tls.ts';
import type { Credentials, FrontProxy } from './tls.ts';

export interface LabApiServerOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Where `start` writes a kubeconfig (`kubeconfig`) and the authority's certificate (`ca.crt`). */
  readonly dataDir?: string;
  /** Where objects and certificates persist across restarts; without it they end with the process. */
  readonly stateDir?: string;
  /** See `StateDirectoryOptions`. */
  readonly compactAfter?: number;
  readonly environment?: Environment;
  /** Past events of each resource from which a watch can resume. Default 10,000. */
  readonly watchWindow?: number;
  /** Default 10,000. */
  readonly bookmarkIntervalMs?: number;
  /** Called with each request before it is handled. */
  readonly onRequest?: (request: IncomingMessage) => void;
  /** Takes over streams into pods. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex) => void;
}

/** The API without HTTP, for simulators. */
export class LabApi {
  readonly store: ObjectStore;
  readonly registry = new ResourceRegistry();
  readonly operations: Operations;
  readonly #customResources: CustomResources;
  readonly #namespaces: NamespaceLifecycle;
  readonly #garbage: GarbageCollector;

  /** `store`: empty, or with the objects of an earlier run. */
  constructor(environment: Environment, store = new ObjectStore()) {
    this.store = store;
    this.operations = new Operations(store, environment);
    for (const definition of builtinResources(store, environment)) this.registry.add(definition);
    this.#customResources = new CustomResources(this.operations, this.registry);
    this.operations.addGuard(({ verb, definition }) => {
      if (verb === 'create') this.#customResources.refuseCreate(definition);
    });
    this.#garbage = new GarbageCollector(this.operations, this.registry);
    this.#namespaces = new NamespaceLifecycle(this.operations, this.registry);
    this.#namespaces.createPermanent();
  }

  stop(): void {
    this.#namespaces.stop();
    this.#garbage.stop();
    this.#customResources.stop();
  }
}

export class LabApiServer {
  readonly faults = new Faults();
  readonly #options: LabApiServerOptions;
  readonly #credentials: Credentials;
  readonly #frontProxy: FrontProxy;
  readonly #state: StateDirectory | undefined;
  readonly #api: LabApi;
  readonly #clusterObjects: ClusterObjects;
  readonly #roles: RoleAggregation;
  readonly #http: ApiHttpServer;
  #url = '';

  /** @throws BrokenStateError when `stateDir` holds a damaged state. */
  constructor(options: LabApiServerOptions = {}) {
    const { environment = systemEnvironment, stateDir, watchWindow } = options;
    this.#options = options;
    this.#state =
      stateDir === undefined
        ? undefined
        : new StateDirectory(stateDir, options.compactAfter === undefined ? {} : { compactAfter: options.compactAfter });
    const store = this.#state?.open(watchWindow) ?? new ObjectStore(watchWindow);
    this.#credentials = stateDir === undefined ? createCredentials(environment.now()) : keptCredentials(stateDir, environment.now());
    this.#frontProxy = createFrontProxy(environment.now());
    this.#api = new LabApi(environment, store);
    this.#api.operations.addVerdict(refuseHugeObjects);
    this.#clusterObjects = new ClusterObjects(this.#api.operations, this.#api.registry, this.#credentials.authority);
    this.#roles = new RoleAggregation(this.#api.operations, this.#api.registry);
    const webhooks = new ValidatingWebhooks(this.#api.operations, this.#api.registry, this.#frontProxy.client);
    this.#http = new ApiHttpServer({
      credentials: this.#credentials,
      operations: this.#api.operations,
      registry: this.#api.registry,
      resources: new ResourceHandler(this.#api.operations, new ListSnapshots(), webhooks),
      openApi: new OpenApi(this.#api.registry),
      tokens: new ServiceAccountTokens(this.#api.operations, this.#credentials.server.key),
      bookmarkIntervalMs: options.bookmarkIntervalMs ?? 10_000,
      faults: this.faults,
      ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
      ...(options.onUpgrade === undefined ? {} : { onUpgrade: options.onUpgrade }),
    });
  }

  get store(): ObjectStore {
    return this.#api.store;
  }

  get operations(): Operations {
    return this.#api.operations;
  }

  /** `https://127.0.0.1:<port>`, once started. */
  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    const port = await this.#http.listen(this.#options.port ?? 0);
    this.#url = `https://127.0.0.1:${port}`;
    const { dataDir } = this.#options;
    if (dataDir === undefined) return;
    await mkdir(dataDir, { recursive: true });
    await writeFile(join(dataDir, 'ca.crt'), this.#credentials.authority);
    await this.writeKubeconfig(join(dataDir, 'kubeconfig'));
  }

  async writeKubeconfig(path: string): Promise<void> {
    await writeFile(path, kubeconfig(this.#url, this.#credentials), { mode: 0o600 });
  }

  /** The authority of this server's client certificate for webhooks. */
  async writeFrontProxyAuthority(path: string): Promise<void> {
    await writeFile(path, this.#frontProxy.authority);
  }

  async stop(): Promise<void> {
    this.#clusterObjects.stop();
    this.#roles.stop();
    this.#api.stop();
    await this.#http.close();
    await this.#state?.close();
  }
}
