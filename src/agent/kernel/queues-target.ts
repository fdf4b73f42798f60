/**
 * Queues of pods' devices, as the kernel shows them: Open vSwitch makes them of rows of QoS, and says in its log alone that the kernel has no such queue, or
 * when another program took it away (`tc qdisc del`). Nothing is written here: the rules take the row of a lost queue away, and the next one brings
 * the queue back.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Changes, Listing } from '../listing/changes.ts';
import type { Retries } from '../retries.ts';
import type { DeviceName } from '../world/attachment.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { QueueOutput } from '../world/outputs.ts';
import type { LinkJson } from './host-network.ts';
import { listsOf } from './host-network.ts';
import type { Programs } from './programs.ts';

/** Open vSwitch makes a queue some milliseconds after its row. */
const SETTLE_MS = 3_000;
/** Rows that are made anew before a queue counts as one that the kernel does not have. */
const MOST_ATTEMPTS = 2;

interface Missing {
  /** The row of QoS without a queue. */
  readonly row: string;
  readonly since: number;
}

export interface QueuesTargetOptions {
  readonly world: NodeWorld;
  readonly programs: Programs;
  readonly retries: Retries;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class QueuesTarget implements Target {
  readonly name = 'the queues of devices';
  readonly desired = new KeyedOutputs<QueueOutput, DeviceName>(['queue'], ({ name }) => name);
  /** No other target waits for it. */
  readonly observed = true;
  readonly busy = false;
  readonly quiet = true;
  readonly waitingFor: readonly string[] = [];
  readonly #options: QueuesTargetOptions;
  readonly #missing = new Map<DeviceName, Missing>();
  readonly #attempts = new Map<DeviceName, number>();
  /** Nothing tells of a queue. */
  readonly #listing: Listing = { list: () => this.#list() };

  constructor(options: QueuesTargetOptions) {
    this.#options = options;
  }

  start(): void {
    this.#options.changes.add(this.#listing);
  }

  async stop(): Promise<void> {
    await this.#options.changes.remove(this.#listing);
  }

  examineAll(): void {}

  plan(): readonly unknown[] {
    return [];
  }

  flush(): boolean {
    for (const name of this.desired.due) if (this.desired.of(name).length === 0) this.#forget(name);
    this.desired.due.clear();
    return true;
  }

  async #list(): Promise<void> {
    const { programs, world, log, wake } = this.#options;
    // As they were before the look.
    const rows = Array.from(this.desired.ids, (name) => [name, world.ports.peek(name)?.queue] as const);
    if (rows.length === 0) return;
    const ran = await programs.run(['ip', '-json', 'link', 'show']);
    if (!ran.ok) return log.warn(`${this.name} could not be listed`, { reason: ran.message });
    const [links = []] = listsOf(ran.output) as [LinkJson[]?];
    const kinds = new Map(links.map(({ ifname = '', qdisc = 'none' }) => [ifname, qdisc]));
    for (const [name, row] of rows) {
      const [output] = this.desired.of(name);
      const kind = kinds.get(name);
      if (output === undefined || kind === undefined || row === undefined) this.#missing.delete(name);
      else if (kind === output.discipline) this.#forget(name);
      else this.#miss(output, row, kind);
    }
    wake();
  }

  #miss({ name, discipline, pod }: QueueOutput, row: string, kind: string): void {
    const { world, retries, clock, log } = this.#options;
    const missing = this.#missing.get(name);
    if (missing?.row !== row) this.#missing.set(name, { row, since: clock.now() });
    if (missing?.row !== row || clock.now() - missing.since < SETTLE_MS || world.lostQueues.peek(name) === row) return;
    const attempts = this.#attempts.get(name) ?? 0;
    const reason = `device ${name} of pod ${pod} has no queue of ${discipline} (it has ${kind}), so the limits of the pod's annotations have no effect`;
    if (attempts < MOST_ATTEMPTS) {
      if (attempts === 0) log.warn('a queue is missing; it is made again', { device: name, discipline, kind });
      this.#attempts.set(name, attempts + 1);
      world.lostQueues.set(name, row);
      retries.stays(idOf(name), `${reason}: another program took it away`);
    } else retries.stays(idOf(name), `${reason}: does the kernel have it? modprobe sch_${discipline}; otherwise take the annotations away`);
  }

  #forget(name: DeviceName): void {
    const { world, retries } = this.#options;
    this.#missing.delete(name);
    this.#attempts.delete(name);
    world.lostQueues.delete(name);
    retries.succeeded(idOf(name));
  }
}

function idOf(name: DeviceName): string {
  return `queue of ${name}`;
}
