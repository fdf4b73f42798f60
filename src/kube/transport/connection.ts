import { readFileSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { parse as parseYaml } from 'yaml';
import { knowAuthorization, knowSecret } from '../../text/known-secrets.ts';
import { KubeError } from '../errors.ts';
import { UNUSED_BY_KUBECONFIG } from './unused-parts.ts';

/** Certificates and key for TLS. */
export interface TlsMaterial {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly servername?: string | undefined;
  /** False only if the kubeconfig sets `insecure-skip-tls-verify`. */
  readonly rejectUnauthorized?: boolean | undefined;
}

export interface Credentials {
  readonly tls: TlsMaterial;
  /** Sent with every request (`authorization`, impersonation). */
  readonly headers: Readonly<Record<string, string>>;
}

/** The address of an API server and the credentials for it. */
export interface Connection {
  /** URL, maybe with a path prefix. */
  readonly server: string;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string | undefined;
  /** HTTP proxy between us and the server. */
  readonly proxyUrl: string | undefined;
  /**
   * Current credentials; called again each minute, so tokens and certificates in files may rotate.
   * @param renew the server rejected the last ones: read everything again
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

/** A connection from given values, for the laboratory and tests. */
export function connectionTo(parameters: ConnectionParameters): Connection {
  const { server, namespace, ca, cert, key, token } = parameters;
  knowSecret(token);
  knowSecret(key);
  const credentials: Credentials = {
    tls: { ca, cert, key },
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
  return { server, namespace, proxyUrl: undefined, credentials: () => Promise.resolve(credentials) };
}

export interface KubeconfigOptions {
  /** File. Default, as in kubectl: `KUBECONFIG`, `~/.kube/config`, then the pod's service account. */
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

/** The placeholder that the library returns if it finds nothing. */
function isPlaceholder(config: KubeConfig): boolean {
  return config.getCurrentContext() === 'loaded-context' && config.getCurrentCluster()?.server === 'http://localhost:8080';
}

/** The service account of this process's pod. @throws KubeError KUBE_CONFIG */
export function connectionFromCluster(): Promise<Connection> {
  return open('the service account of this pod', undefined, async () => {
    if (process.env['KUBERNETES_SERVICE_HOST'] === undefined) throw new Error('KUBERNETES_SERVICE_HOST is not set');
    const config = new (await kubeConfigClass())();
    config.loadFromCluster();
    return config;
  });
}

let loading: Promise<{ readonly KubeConfig: new () => KubeConfig }> | undefined;

/** Imported when first needed, from its own module and without what is not used of it. */
async function kubeConfigClass(): Promise<new () => KubeConfig> {
  loading ??= importKubeConfig();
  return (await loading).KubeConfig;
}

async function importKubeConfig(): Promise<{ readonly KubeConfig: new () => KubeConfig }> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const unused = UNUSED_BY_KUBECONFIG.find(
        (part) => part.specifier === specifier && context.parentURL?.includes(`/${part.importer}/dist/`) === true,
      );
      return unused === undefined ? next(specifier, context) : { url: `data:text/javascript,${unused.source}`, shortCircuit: true };
    },
  });
  try {
    return await import('@kubernetes/client-node/dist/config.js');
  } finally {
    hooks.deregister();
  }
}

/** The library supports rotating token files only for service accounts: a user's `tokenFile` is declared as one. */
function useTokenFiles(config: KubeConfig, path: string): void {
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

/** The library has no message for a file without a context. */
function noClusterProblem(config: KubeConfig): string {
  const context: string | undefined = config.getCurrentContext();
  return context === undefined || context === ''
    ? 'it has no current-context: it is no kubeconfig, or one to name a context of with --context'
    : `its current context "${context}" names no cluster`;
}

async function open(source: string, path: string | undefined, load: () => Promise<KubeConfig>): Promise<Connection> {
  const fail = (error: unknown): never => {
    if (error instanceof KubeError) throw error;
    // A parser's message has a drawing of the position below its first line.
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
          return fail(error);
        }
      },
    };
  } catch (error) {
    return fail(error);
  }
}

function modifiedAt(path: string | undefined): number | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions & { ca?: Buffer; cert?: Buffer | string; key?: Buffer | string } = {};
  const { token, password, exec } = config.getCurrentUser() ?? {};
  knowSecret(token);
  knowSecret(password);
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    if (exec === undefined) throw error;
    // What such a program prints, or the parser quotes of it, may be a token.
    throw new Error(`the credential program ${exec.command ?? ''} of the kubeconfig failed: run it by hand to see why`, { cause: error });
  }
  knowSecret(options.key);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = String(value).trim();
  }
  if (typeof options.auth === 'string' && headers['authorization'] === undefined) {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  knowAuthorization(headers['authorization']);
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
