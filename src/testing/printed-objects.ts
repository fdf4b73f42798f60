/**
 * Objects as `kubectl get -o json` prints them, read within this process: tests poll often, and each kubectl would be a new process.
 */
import { resourceNamed } from '../explain/kind-names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isKubeError } from '../kube/errors.ts';
import { EVENTS } from '../kube/resource.ts';
import type { KubeObject, Resource } from '../kube/resource.ts';
import { traitsOf } from '../world/resources.ts';

/** An object as kubectl prints it. */
export interface PrintedObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly PrintedCondition[] };
}

export interface PrintedCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly message?: string;
}

export interface PrintedEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

export class PrintedObjects {
  readonly #client: KubeClient;
  readonly #kubectl: (args: readonly string[]) => Promise<string>;

  /** @param kubectl for kinds that the client does not know, and for errors of the client */
  constructor(client: KubeClient, kubectl: (args: readonly string[]) => Promise<string>) {
    this.#client = client;
    this.#kubectl = kubectl;
  }

  /** Undefined: there is no such object. The default namespace is `default`. */
  async find(kind: string, name: string, namespace?: string): Promise<PrintedObject | undefined> {
    return await this.#ask(
      kind,
      async (resource) => {
        try {
          const found = await this.#client.get<KubeObject>(resource, { name, ...(resource.namespaced && inside(namespace)) });
          return found as unknown as PrintedObject;
        } catch (error) {
          if (isKubeError(error, 'KUBE_NOT_FOUND')) return undefined;
          throw error;
        }
      },
      ['get', kind, name, '-o', 'json', '--ignore-not-found', ...(namespace === undefined ? [] : ['-n', namespace])],
      (printed) => (printed === '' ? undefined : (JSON.parse(printed) as PrintedObject)),
    );
  }

  /** All objects of a kind. The default namespace is `default`. */
  async list(kind: string, namespace?: string): Promise<readonly PrintedObject[]> {
    return await this.#ask(
      kind,
      async (resource) => {
        const found = await this.#client.listAll<KubeObject>(resource, resource.namespaced ? inside(namespace) : {});
        return found as unknown as readonly PrintedObject[];
      },
      ['get', kind, '-o', 'json', ...(namespace === undefined ? [] : ['-n', namespace])],
      (printed) => itemsOf(printed) as readonly PrintedObject[],
    );
  }

  /** Events of one object, by its name. */
  async events(kind: string, name: string, namespace?: string): Promise<readonly PrintedEvent[]> {
    const fieldSelector = `involvedObject.name=${name},involvedObject.kind=${kind}`;
    return await this.#ask(
      EVENTS,
      async (resource) => await this.#client.listAll<KubeObject & PrintedEvent>(resource, { namespace, fieldSelector }),
      ['get', 'events', ...(namespace === undefined ? ['-A'] : ['-n', namespace]), `--field-selector=${fieldSelector}`, '-o', 'json'],
      (printed) => itemsOf(printed) as readonly PrintedEvent[],
    );
  }

  async #ask<T>(
    kind: string | Resource,
    ask: (resource: Resource) => Promise<T>,
    kubectl: readonly string[],
    read: (printed: string) => T,
  ): Promise<T> {
    const name = typeof kind === 'string' ? resourceNamed(kind) : undefined;
    const resource = typeof kind === 'string' ? name && traitsOf(name) : kind;
    if (resource !== undefined) {
      try {
        return await ask(resource);
      } catch (error) {
        // The server was restarted since the last read, and the connection is lost; kubectl opens another, or reports the error.
        if (!isKubeError(error)) throw error;
      }
    }
    return read(await this.#kubectl(kubectl));
  }
}

function inside(namespace = 'default'): { readonly namespace: string } {
  return { namespace };
}

function itemsOf(printed: string): readonly unknown[] {
  return (JSON.parse(printed) as { readonly items: readonly unknown[] }).items;
}
