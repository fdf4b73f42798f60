/** One object, followed by list and watch of its name alone: rights to `list` and `watch` that name are enough. */
import type { StatefulObject } from '../../explain/kind-words.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError, type KubeError } from '../../kube/errors.ts';
import { ListWatchCache } from '../../kube/cache/list-watch-cache.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { keyOf } from '../../kube/resource.ts';
import { traitsOf } from '../../world/resources.ts';
import type { NamedObject } from '../arguments/object-argument.ts';

export interface ObjectWatchOptions {
  readonly client: KubeClient;
  readonly object: NamedObject;
  /** Called at each change of the object, and at each failure. */
  readonly changed: () => void;
}

/** Between two attempts while the kind is not served, and between the two lists that lack the object. */
const AGAIN_MS = 1_000;
const DEFINITIONS: Resource = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
};

export class ObjectWatch {
  readonly #options: ObjectWatchOptions;
  readonly #cache: ListWatchCache<KubeObject>;
  #failure: KubeError | undefined;
  #undefinedKind = false;

  constructor(options: ObjectWatchOptions) {
    this.#options = options;
    const { client, object, changed } = options;
    const { resource, namespace, name } = object;
    this.#cache = new ListWatchCache<KubeObject>({
      client,
      resource: traitsOf(resource),
      ...(namespace === '' ? {} : { namespace }),
      fieldSelector: `metadata.name=${name}`,
      optional: true,
      relistIntervalMs: 0,
      notServedRetryMs: AGAIN_MS,
      shrunkListMs: AGAIN_MS,
      onCacheEvent: (event) => {
        if (event.kind === 'failure') {
          this.#failure = event.error;
          if (event.error.code === 'KUBE_NOT_SERVED') void this.#findDefinition();
        } else if (event.kind === 'list') {
          this.#failure = undefined;
          this.#undefinedKind = false;
        }
        changed();
      },
    });
    this.#cache.onDelta(changed);
    this.#cache.onState(changed);
  }

  start(): void {
    this.#cache.start();
  }

  /** Whether the API server has answered: without an object, there is none. */
  get known(): boolean {
    return this.#cache.state === 'not-served' ? this.#undefinedKind : this.#cache.ready;
  }

  get object(): StatefulObject | undefined {
    return this.#cache.get(keyOf(this.#options.object)) as StatefulObject | undefined;
  }

  /** The failure of the latest request. */
  get failure(): KubeError | undefined {
    return this.#failure;
  }

  /** Releases the watch. */
  close(): Promise<void> {
    return this.#cache.close();
  }

  /** Without a definition of the kind there is no object. An API server that starts serves definitions later than it has them. */
  async #findDefinition(): Promise<void> {
    const { client, object, changed } = this.#options;
    const { plural, group } = traitsOf(object.resource);
    try {
      this.#undefinedKind = (await client.find(DEFINITIONS, { name: `${plural}.${group}` })) === undefined;
    } catch (error) {
      // Who may not read definitions believes the API server.
      this.#undefinedKind = isKubeError(error, 'KUBE_FORBIDDEN');
    }
    changed();
  }
}
