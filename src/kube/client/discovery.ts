import type { KubeClient, VersionInfo } from './client.ts';
import { isKubeError, KubeError } from '../errors.ts';
import { apiVersionOf, type Resource } from '../resource.ts';

interface ApiResourceList {
  readonly kind?: unknown;
  readonly resources?: readonly { readonly name: string; readonly verbs?: readonly string[] | null }[] | null;
}

/** The kinds that an API server serves; each group version is read once and kept until `refresh`. */
export class Discovery {
  readonly #client: KubeClient;
  readonly #lists = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** @param subresource `status`: whether that subresource is served @throws KubeError if the server does not answer */
  async serves(resource: Resource, subresource?: string): Promise<boolean> {
    const names = await this.#list(resource);
    return names.has(subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`);
  }

  serverVersion(signal?: AbortSignal): Promise<VersionInfo> {
    return this.#client.version(signal);
  }

  /** Forgets the answers: CRDs come and go. */
  refresh(): void {
    this.#lists.clear();
  }

  #list(resource: Resource): Promise<ReadonlySet<string>> {
    const key = apiVersionOf(resource);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const asked = this.#ask(resource.group === '' ? `/api/${resource.version}` : `/apis/${key}`);
    this.#lists.set(key, asked);
    asked.catch(() => this.#lists.delete(key));
    return asked;
  }

  async #ask(path: string): Promise<ReadonlySet<string>> {
    try {
      const { kind, resources } = ((await this.#client.getPath(path)) ?? {}) as ApiResourceList;
      if (kind !== 'APIResourceList' || resources === undefined)
        throw new KubeError('KUBE_PROTOCOL', { verb: 'discover', resource: path }, 'the answer is no APIResourceList');
      return new Set((resources ?? []).map((entry) => entry.name));
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_SERVED') || isKubeError(error, 'KUBE_NOT_FOUND')) return new Set();
      throw error;
    }
  }
}
