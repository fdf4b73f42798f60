/** The objects of the API server that concern this node, and annotations and labels of those that rules change. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '../../kube/client/client.ts';
import { ListWatchCache } from '../../kube/cache/list-watch-cache.ts';
import { AGENT_TABLES } from '../../kinds/generated/agent-tables.ts';
import { keyOf, type KubeObject } from '../../kube/resource.ts';
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock, Random } from '../../timing/clock.ts';
import type { Table } from '../../engine/table.ts';
import type { Retries } from '../retries.ts';
import type { AgentTable } from '../world/agent-table.ts';
import { type AgentResource, API_SERVER, type NodeWorld } from '../world/node-world.ts';
import { objectId, type ObjectMetadataOutput } from '../world/outputs.ts';
import { isDeclared } from './declared-writes.ts';

export interface ObjectsTargetOptions {
  readonly client: KubeClient;
  readonly node: string;
  readonly world: NodeWorld;
  readonly retries: Retries;
  readonly clock: Clock;
  /** Default: the system's. */
  readonly random?: Random;
  readonly log: Log;
  readonly wake: () => void;
}

/** An object as the cache keeps it. */
interface Viewed extends KubeObject {
  readonly view?: unknown;
}

export class ObjectsTarget implements Target {
  readonly name = 'the API server';
  readonly desired = new KeyedOutputs<ObjectMetadataOutput>(['object-metadata'], objectId);
  readonly #options: ObjectsTargetOptions;
  readonly #sources: readonly ListWatchCache<Viewed>[];
  /** Kinds that are listed again since the server's data was restored from a backup. */
  readonly #restored = new Set<string>();
  #sent = false;
  #stopped = false;

  constructor(options: ObjectsTargetOptions) {
    this.#options = options;
    const { node, world, wake, client, clock, random } = options;
    const shared = { client, clock, ...(random !== undefined && { random }) };
    const tables = world.tablesOfKinds();
    this.#sources = (Object.keys(tables) as AgentResource[]).map((resource) => {
      // Each table is that of its own kind: one is opened of the other.
      const { resource: kind, selects, optional, view } = AGENT_TABLES[resource] as AgentTable<KubeObject, unknown>;
      const table = tables[resource] as Table<unknown>;
      const cache = new ListWatchCache<Viewed>({
        ...shared,
        resource: kind,
        trim: ({ metadata, ...object }) => ({
          metadata: { name: metadata.name, namespace: metadata.namespace, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
          view: view({ metadata, ...object }, node),
        }),
        unread: 'managedFields',
        ...(selects && { fieldSelector: selects(node) }),
        ...(optional && { optional }),
        onCacheEvent: (event) => {
          if (event.kind === 'restored') this.#restoredAll(event);
          const isListed = event.kind === 'list' || (event.kind === 'state' && event.state === 'not-served');
          if (isListed && this.#restored.delete(kind.plural)) wake();
        },
      });
      cache.onDelta((deltas) => {
        for (const { type, object } of deltas) {
          const key = keyOf(object.metadata);
          if (type === 'delete') table.delete(key);
          // Most changes, such as a heartbeat of some node, are of nothing that rules read.
          else if (!isDeepStrictEqual(table.peek(key), object.view)) table.set(key, object.view);
        }
        this.examineAll();
        wake();
      });
      cache.onState((state) => {
        // What is not observed then may exist.
        if (state === 'stale') world.failures.set(API_SERVER, 'the API server does not answer; kubectl get nodes');
        else if (this.#sources.every((source) => source.state !== 'stale')) world.failures.delete(API_SERVER);
        wake();
      });
      return cache;
    });
  }

  /** Some kinds are from before a restore of the server's data, and others from after it. */
  get busy(): boolean {
    return this.#restored.size > 0;
  }

  #restoredAll({ held, served }: { readonly held: string; readonly served: string }): void {
    if (this.busy) return;
    const { log } = this.#options;
    log.warn('the API server has an older version than this process has observed: its data was restored; all kinds are listed again', {
      observed: held,
      served,
    });
    for (const source of this.#sources) if (source.restored()) this.#restored.add(source.resource.plural);
  }

  get quiet(): boolean {
    return this.desired.due.size === 0 && !this.#sent;
  }

  get observed(): boolean {
    return this.#sources.every((cache) => cache.ready);
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  start(): void {
    for (const cache of this.#sources) cache.start();
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await Promise.all(this.#sources.map((cache) => cache.close()));
  }

  examineAll(): void {
    for (const id of this.desired.ids) this.desired.due.add(id);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (id) => ({ object: id, metadata: this.#missing(id)?.metadata })).filter(
      ({ metadata }) => metadata !== undefined,
    );
  }

  flush(): boolean {
    for (const id of this.desired.due) {
      if (this.#sent) break;
      if (this.#options.retries.mustWait(id)) continue;
      this.desired.due.delete(id);
      const missing = this.#missing(id);
      if (missing !== undefined) void this.#send(id, missing);
      // A write may have had its effect although its answer was lost.
      else this.#options.retries.succeeded(id);
    }
    return true;
  }

  /** Annotations and labels that differ; undefined if none does. */
  #missing(id: string): MetadataPatch | undefined {
    const outputs = this.desired.of(id).filter((output) => isDeclared(output, this.#options.log));
    const [first] = outputs;
    const present = first && this.#options.world.written(first);
    if (first === undefined || present === undefined) return undefined;
    const annotations = differing(
      outputs.map((output) => output.annotations),
      present.annotations,
    );
    const labels = differing(
      outputs.map((output) => output.labels ?? {}),
      present.labels,
    );
    if (annotations === undefined && labels === undefined) return undefined;
    return {
      resource: first.resource,
      name: first.name,
      uid: present.uid,
      metadata: { ...(annotations && { annotations }), ...(labels && { labels }) },
    };
  }

  /** The watch shows the result, and the next diff compares with that. */
  async #send(id: string, { resource, name, uid, metadata }: MetadataPatch): Promise<void> {
    const { client, retries, log, wake } = this.#options;
    this.#sent = true;
    try {
      await client.mergePatch(AGENT_TABLES[resource].resource, { name }, { metadata: { uid, ...metadata } });
      retries.succeeded(id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn('annotations and labels could not be written; they will be tried again', { object: id, reason });
      retries.failed(id, reason);
      this.desired.due.add(id);
    }
    this.#sent = false;
    wake();
  }
}

type TextPatch = Readonly<Record<string, string | null>>;

interface MetadataPatch extends Pick<ObjectMetadataOutput, 'resource' | 'name'> {
  readonly uid: string;
  readonly metadata: { readonly annotations?: TextPatch; readonly labels?: TextPatch };
}

function differing(wanted: readonly TextPatch[], present: Readonly<Record<string, string>>): TextPatch | undefined {
  const found = wanted.flatMap((patch) => Object.entries(patch)).filter(([key, value]) => (present[key] ?? null) !== value);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
