/** Every status of Vpcs and Subnets that a watch shows during a take-over, and what is taken back in them. */
import type { KubeClient } from '../../src/kube/client/client.ts';
import { LineSplitter } from '../../src/kube/cache/line-splitter.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { traitsOf } from '../../src/world/resources.ts';
import type { PrintedLeft } from './left-cluster.ts';

type Fields = ReadonlyMap<string, string>;

const LONGEST_LINE = 16 * 1024 * 1024;
const WATCH_SECONDS = 600;

/** The fields of a status in the order of their writes, by object. */
export class StatusWrites implements Disposable {
  readonly #seen = new Map<string, Fields[]>();
  readonly #end = new AbortController();
  failure: unknown;

  /** Lists the objects, and follows them from there on. */
  async follow(client: KubeClient, resource: ResourceName): Promise<void> {
    const { items, resourceVersion } = await client.list<PrintedLeft>(traitsOf(resource), { limit: 500 });
    for (const object of items) this.#take(resource, object);
    const watch = await client.watch(traitsOf(resource), { resourceVersion, timeoutSeconds: WATCH_SECONDS, signal: this.#end.signal });
    const lines = new LineSplitter(LONGEST_LINE);
    watch.read({
      take: (chunk) => {
        for (const line of lines.push(chunk as Buffer)) {
          const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: PrintedLeft };
          if (type === 'MODIFIED') this.#take(resource, object);
        }
      },
      ended: () => undefined,
      failed: (error) => {
        if (!this.#end.signal.aborted) this.failure = error;
      },
    });
  }

  /** Number of observed states, over all objects. */
  get states(): number {
    return [...this.#seen.values()].reduce((all, states) => all + states.length, 0);
  }

  get objects(): number {
    return this.#seen.size;
  }

  /** The last observed version of the object has these fields. */
  has(resource: ResourceName, object: PrintedLeft): boolean {
    const last = this.#seen.get(`${resource} ${object.metadata.name}`)?.at(-1);
    return last !== undefined && sameFields(last, fieldsOf(object));
  }

  /** A field that has a former value again, by object: what was written meanwhile was taken back. */
  takenBack(): readonly string[] {
    return [...this.#seen].flatMap(([object, states]) => {
      const fields = new Set(states.flatMap((state) => [...state.keys()]));
      return [...fields].flatMap((field) => {
        const values = states.map((state) => state.get(field) ?? '');
        const changes = values.filter((value, at) => at === 0 || value !== values[at - 1]);
        return new Set(changes).size === changes.length ? [] : [`${object} ${field}: ${changes.join(' → ')}`];
      });
    });
  }

  /** A field that left this value, by object. */
  lost(field: string, isSound: (value: string) => boolean): readonly string[] {
    return [...this.#seen].flatMap(([object, states]) => {
      const [before = '', ...later] = states.map((state) => state.get(field) ?? '');
      const other = isSound(before) ? later.find((value) => value !== before) : undefined;
      return other === undefined ? [] : [`${object} ${field}: ${before} → ${other}`];
    });
  }

  #take(resource: ResourceName, object: PrintedLeft): void {
    const key = `${resource} ${object.metadata.name}`;
    this.#seen.set(key, [...(this.#seen.get(key) ?? []), fieldsOf(object)]);
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }
}

/** Conditions by type: status, and the time of the transition to it. */
function fieldsOf({ status = {} }: PrintedLeft): Fields {
  const { conditions = [], ...others } = status;
  return new Map([
    ...Object.entries(others).map(([field, value]) => [field, JSON.stringify(value)] as const),
    ...conditions.flatMap(({ type, status: is, lastTransitionTime = '' }) => [
      [type, is] as const,
      [`${type} since`, `${is} ${lastTransitionTime}`] as const,
    ]),
  ]);
}

function sameFields(a: Fields, b: Fields): boolean {
  return a.size === b.size && [...a].every(([field, value]) => b.get(field) === value);
}
