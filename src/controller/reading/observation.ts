/**
 * A World that is filled once, for commands that only read: all caches complete and, with a session, the Northbound replica synced. No rule
 * runs and nothing is written.
 */
import type { KubeClient } from '../../kube/client/client.ts';
import { systemClock } from '../../timing/clock.ts';
import { KubeError } from '../../kube/errors.ts';
import type { OvsdbSession, Replica } from '../../ovsdb/index.ts';
import type { DatabaseSchema } from '../../ovsdb/schema.ts';
import type { Settings } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { Caches } from './caches.ts';

/**
 * A process that reads once watches only if its lists take longer than this: then they are of different times, and the watches bring all of
 * them to the end. A watch takes a connection of its own, which costs more than a short list.
 */
export const READ_QUICKLY_MS = 1_000;

export interface ObservationOptions {
  readonly client: KubeClient;
  /** Not started yet; undefined: read Kubernetes alone. */
  readonly session: OvsdbSession | undefined;
  /** Number of the session's endpoints: after as many failures each was tried. */
  readonly endpoints: number;
  readonly settings: Settings;
  readonly timeoutMs: number;
  /** True: the World follows changes from the start. Else watches are opened if reading takes long. */
  readonly follows?: boolean;
  /** The World gets no rows: the caller takes them from `replica`. */
  readonly leavesRows?: true;
}

export class Observation implements AsyncDisposable {
  readonly world: World;
  /** Why the Northbound database could not be read. */
  northboundProblem: string | undefined;
  readonly #caches: Caches;
  readonly #session: OvsdbSession | undefined;
  readonly #endpoints: number;
  #failures = 0;
  #failed: KubeError | undefined;
  #changed: () => void = () => undefined;

  private constructor({ client, session, settings, endpoints, follows, leavesRows }: ObservationOptions) {
    this.#endpoints = endpoints;
    this.world = new World(settings);
    this.#session = session;
    this.#caches = new Caches({
      client,
      world: this.world,
      clock: systemClock,
      changed: () => this.#changed(),
      inferredDeletions: () => undefined,
      ...(follows === true ? {} : { watchAfterMs: READ_QUICKLY_MS }),
      onCacheEvent: (resource, event) => {
        if (event.kind !== 'failure') return;
        if (event.error.code === 'KUBE_NOT_SERVED' && this.#caches.isOptional(resource)) return;
        this.#failed ??= event.error;
        this.#changed();
      },
    });
    session?.onChanges((batch) => {
      if (leavesRows !== true) this.world.rows.apply(session.replica, batch);
      this.#changed();
    });
    session?.onError((error) => {
      this.#failures++;
      this.northboundProblem ??= `${error.code}: ${error.message}`;
      this.#changed();
    });
  }

  /**
   * A Northbound database that cannot be read is no error: see `northboundProblem`.
   * @throws KubeError the first failure of a list, or KUBE_TIMEOUT
   */
  static async open(options: ObservationOptions): Promise<Observation> {
    const observation = new Observation(options);
    observation.#caches.start();
    options.session?.start();
    try {
      await observation.#complete(options.timeoutMs);
    } catch (error) {
      await observation.close();
      throw error;
    }
    return observation;
  }

  /** Resolves with the next change, or after this long. */
  changed(withinMs: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(() => this.#changed(), withinMs);
      this.#changed = () => {
        clearTimeout(timer);
        this.#changed = () => undefined;
        this.#pass();
        done();
      };
    });
  }

  /** Advances the deadlines: a pod past its grace period holds no address, as in the controller. */
  #pass(): void {
    this.world.deadlines.advance(systemClock.wallTime());
  }

  get northboundRead(): boolean {
    return (this.#session?.generation ?? 0) > 0;
  }

  get schemaVersion(): string | undefined {
    return this.schema?.version;
  }

  get schema(): DatabaseSchema | undefined {
    return this.#session?.schema;
  }

  /** The rows; after `close` they stay as they are. */
  get replica(): Replica | undefined {
    return this.#session?.replica;
  }

  async close(): Promise<void> {
    await this.#caches.close();
    await this.#session?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #complete(timeoutMs: number): Promise<void> {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => {
        const { missing } = this.#caches;
        if (missing.length > 0) return fail(timedOut(missing.join(', '), timeoutMs));
        this.northboundProblem ??= `it sent no contents in ${timeoutMs / 1_000} s`;
        done();
      }, timeoutMs);
      const end = (finish: () => void): void => {
        clearTimeout(timer);
        this.#changed = () => undefined;
        finish();
      };
      this.#changed = () => {
        const failed = this.#failed;
        if (failed !== undefined) return end(() => fail(failed));
        const answered = this.#session === undefined || this.northboundRead || this.#failures >= this.#endpoints;
        if (!this.#caches.ready || !answered) return;
        this.#pass();
        end(done);
      };
      this.#changed();
    });
  }
}

function timedOut(missing: string, timeoutMs: number): KubeError {
  return new KubeError('KUBE_TIMEOUT', { verb: 'list', resource: missing }, `not listed after ${timeoutMs / 1_000} s`);
}
