import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { RequestOptions } from 'node:https';
import { parse as parseYaml } from 'yaml';
import { KubeError } from './errors.ts';

/** What a TLS handshake needs. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly servername?: string | undefined;
  /** False only where the kubeconfig says `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface Credentials {
  readonly tls: TlsMaterial;
  /** Sent with every request (`authorization`, impersonation). */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where an API server is and how to prove who we are. */
export interface Connection {
  /** URL, maybe with a path prefix. */
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string | undefined;
  /** HTTP proxy between us and the server. */
  readonly proxyUrl: string | undefined;
  /**
   * Current credentials; asked again each minute, so tokens and certificates in files may rotate.
   * @param renew the server refused the last ones: read everything anew
   */
  credentials(renew: boolean): Promise<Credentials>;
}

export interface ConnectionParameters {
  readonly server: string;
  readonly namespace?: string;
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly token?: string;
}

/** A connection from values in hand: the lab, tests. */
export function connectionTo(parameters: ConnectionParameters): Connection {
  const { server, namespace, ca, cert, key, token } = parameters;
  const credentials: Credentials = {
    tls: { ca, cert, key },
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
  return { server, namespace, proxyUrl: undefined, credentials: () => Promise.resolve(credentials) };
}

export interface KubeconfigOptions {
  /** File; left out: `KUBECONFIG`, `~/.kube/config`, then the pod's service account, as kubectl does. */
  readonly path?: string;
  readonly context?: string;
}

/**
 * Reads a kubeconfig with the official library: certificates, tokens, basic authentication, exec plugins, OIDC.
 * @throws KubeError KUBE_CONFIG
 */
export function connectionFromKubeconfig(options: KubeconfigOptions = {}): Promise<Connection> {
  const { path, context } = options;
  return open(path ?? 'the default kubeconfig', path, async () => {
    const config = new (await kubeConfigClass())();
    if (path === undefined) {
      config.loadFromDefault();
      if (isPlaceholder(config)) throw new Error(NO_KUBECONFIG);
    } else {
      config.loadFromFile(path);
      useTokenFiles(config, path);
    }
    if (context !== undefined) {
      if (config.getContextObject(context) === null) throw new Error(`it has no context "${context}"`);
      config.setCurrentContext(context);
    }
    return config;
  });
}

const NO_KUBECONFIG = 'there is none: KUBECONFIG names no cluster, ~/.kube/config does not either, and this is not a pod';

/** What the library makes up where it finds nothing. */
function isPlaceholder(config: LibraryConfig): boolean {
  return config.getCurrentContext() === 'loaded-context' && config.getCurrentCluster()?.server === 'http://localhost:8080';
}

/** The service account of the pod we run in. @throws KubeError KUBE_CONFIG */
export function connectionFromCluster(): Promise<Connection> {
  return open('the service account of this pod', undefined, async () => {
    if (process.env['KUBERNETES_SERVICE_HOST'] === undefined) throw new Error('KUBERNETES_SERVICE_HOST is not set');
    const config = new (await kubeConfigClass())();
    config.loadFromCluster();
    return config;
  });
}

/** The part of the library's KubeConfig that is used; its own types pull in a thousand generated files. */
interface LibraryConfig {
  loadFromFile(path: string): void;
  loadFromDefault(): void;
  loadFromCluster(): void;
  setCurrentContext(name: string): void;
  getCurrentContext(): string;
  getContextObject(name: string): { readonly namespace?: string } | null;
  getCurrentCluster(): { readonly server: string; readonly proxyUrl?: string } | null;
  getUsers(): { readonly name: string; token?: string; authProvider?: unknown }[];
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** Imported when first needed and by its own module: loading it takes half a second. */
async function kubeConfigClass(): Promise<new () => LibraryConfig> {
  const module: string = '@kubernetes/client-node/dist/config.js';
  const loaded = (await import(module)) as { KubeConfig: new () => LibraryConfig };
  return loaded.KubeConfig;
}

/** The library knows rotating token files only as a service account's: a user's `tokenFile` is made one. */
function useTokenFiles(config: LibraryConfig, path: string): void {
  const document = parseYaml(readFileSync(path, 'utf8')) as {
    readonly users?: readonly { readonly name?: string; readonly user?: { readonly tokenFile?: string } | null }[];
  } | null;
  for (const entry of document?.users ?? []) {
    const tokenFile = entry.user?.tokenFile;
    const user = config.getUsers().find((candidate) => candidate.name === entry.name);
    if (tokenFile === undefined || user === undefined) continue;
    delete user.token;
    user.authProvider = { name: 'tokenFile', config: { tokenFile: resolve(dirname(path), tokenFile) } };
  }
}

/** The library has no words for a file that says nothing of a context: its type does not admit one. */
function noClusterProblem(config: LibraryConfig): string {
  const context: string | undefined = config.getCurrentContext();
  return context === undefined || context === ''
    ? 'it has no current-context: it is no kubeconfig, or one to name a context of with --context'
    : `its current context "${context}" names no cluster`;
}

async function open(source: string, path: string | undefined, load: () => Promise<LibraryConfig>): Promise<Connection> {
  const refuse = (error: unknown): never => {
    if (error instanceof KubeError) throw error;
    // A parser draws the place below its sentence.
    const [text = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new KubeError('KUBE_CONFIG', { verb: 'connect', resource: source }, text, { cause: error });
  };
  try {
    let config = await load();
    let modified = modifiedAt(path);
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error(noClusterProblem(config));
    if (cluster.proxyUrl?.startsWith('socks') === true) throw new Error('a SOCKS proxy is not supported');
    return {
      server: cluster.server,
      namespace: config.getContextObject(config.getCurrentContext())?.namespace,
      proxyUrl: cluster.proxyUrl,
      async credentials(renew) {
        try {
          if (renew || modifiedAt(path) !== modified) {
            config = await load();
            modified = modifiedAt(path);
          }
          return await credentialsOf(config);
        } catch (error) {
          return refuse(error);
        }
      },
    };
  } catch (error) {
    return refuse(error);
  }
}

function modifiedAt(path: string | undefined): number | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

async function credentialsOf(config: LibraryConfig): Promise<Credentials> {
  const options: RequestOptions & { ca?: Buffer; cert?: Buffer | string; key?: Buffer | string } = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = String(value).trim();
  }
  if (typeof options.auth === 'string' && headers['authorization'] === undefined) {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return {
    tls: {
      ca: options.ca,
      cert: options.cert,
      key: options.key,
      servername: options.servername,
      rejectUnauthorized: options.rejectUnauthorized,
    },
    headers,
  };
}
