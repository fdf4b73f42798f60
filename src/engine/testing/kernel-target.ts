/**
 * Links and routes of the kernel as a target. The kernel tells nothing: its state is read again after each write, and every second for what
 * other programs did. Ownership: `MARK`. Guard: a link is changed by the index that the diff saw. There is no fence: a node has one agent.
 *
 * Retried: an operation that failed, at once after the state was read again, then after 1 s doubling up to 30 s, with an entry in
 * `world.problems`. Costs: one comparison for each link or route that changed or whose outputs changed; one list for each write and second.
 */
import type { KeyedOutputs } from '../keyed-outputs.ts';
import { doublingDelay } from '../../timing/backoff.ts';
import { equal } from '../equal.ts';
import type { Table } from '../table.ts';
import type { Target } from '../target.ts';
import type { FakeKernel, KernelOperation, KernelState } from './fake-kernel.ts';
import { diffKernel, MARK } from './kernel-diff.ts';
import type { KernelOutput, NodeWorld } from './node-world.ts';
import { routeKey } from './node-world.ts';

export interface KernelTargetOptions {
  readonly kernel: FakeKernel;
  readonly world: NodeWorld;
  readonly desired: KeyedOutputs<KernelOutput>;
  readonly later: (ms: number, run: () => void) => void;
  readonly wake: () => void;
}

interface Planned {
  readonly id: string;
  readonly operation: KernelOperation;
}

const READ_MS = 1_000;
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 30_000;

export class KernelTarget implements Target {
  readonly name = 'kernel';
  /** A list enters the World in one step. */
  readonly busy = false;
  observed = false;
  /** Number of comparisons, for measurements of cost. */
  compared = 0;
  readonly #options: KernelTargetOptions;
  readonly #pending = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #inBackoff = new Set<string>();
  /** Counts the beginnings and ends of writes: a list that a write overlaps shows an older state. */
  #writes = 0;
  #underWay: Promise<void> | undefined;
  #stopped = false;

  constructor(options: KernelTargetOptions) {
    this.#options = options;
  }

  get quiet(): boolean {
    return this.#underWay === undefined && this.#pending.size + this.#options.desired.due.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : ['the links and routes of the kernel'];
  }

  start(): void {
    void this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#underWay;
  }

  examineAll(): void {
    for (const id of this.#all()) this.#pending.add(id);
  }

  plan(): readonly KernelOperation[] {
    return [...this.#all()].flatMap((id) => {
      const verdict = diffKernel(id, this.#options.desired.of(id), this.#options.world);
      return verdict.kind === 'change' ? [verdict.operation] : [];
    });
  }

  flush(): boolean {
    const { desired } = this.#options;
    for (const id of desired.due) {
      desired.due.delete(id);
      // New outputs may succeed.
      this.#failures.delete(id);
      this.#inBackoff.delete(id);
      this.#pending.add(id);
    }
    if (this.#underWay !== undefined || this.#stopped) return true;
    const planned: Planned[] = [];
    for (const id of this.#pending) {
      this.#pending.delete(id);
      if (this.#inBackoff.has(id)) continue;
      const operation = this.#compare(id);
      if (operation !== undefined) planned.push({ id, operation });
    }
    if (planned.length > 0) this.#underWay = this.#write(planned);
    return true;
  }

  #compare(id: string): KernelOperation | undefined {
    const { desired, world } = this.#options;
    this.compared++;
    const verdict = diffKernel(id, desired.of(id), world);
    if (verdict.kind === 'conflict') world.problems.set(id, verdict.message);
    else if (verdict.kind === 'converged') {
      this.#failures.delete(id);
      world.problems.delete(id);
    } else return verdict.operation;
    return undefined;
  }

  async #write(planned: readonly Planned[]): Promise<void> {
    this.#writes++;
    for (const { id, operation } of planned) {
      try {
        await this.#options.kernel.apply(operation);
      } catch (error) {
        this.#failed(id, error);
      }
      this.#pending.add(id);
    }
    this.#writes++;
    await this.#read();
    this.#underWay = undefined;
    this.#options.wake();
  }

  #failed(id: string, error: unknown): void {
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    // The first time, the state may have changed after it was read.
    if (failures < 2) return;
    const { world, later, wake } = this.#options;
    world.problems.set(id, error instanceof Error ? error.message : String(error));
    this.#inBackoff.add(id);
    later(doublingDelay(failures - 2, FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS), () => {
      this.#inBackoff.delete(id);
      this.#pending.add(id);
      wake();
    });
  }

  async #poll(): Promise<void> {
    await this.#read();
    this.#options.later(READ_MS, () => this.#stopped || void this.#poll());
  }

  async #read(): Promise<void> {
    const { kernel, world, wake } = this.#options;
    const writes = this.#writes;
    const state: KernelState = await kernel.list();
    if (writes !== this.#writes || this.#stopped) return;
    this.#take(world.links, new Map(state.links.map((link) => [link.name, link])), (name) => `link/${name}`);
    this.#take(
      world.routes,
      new Map(state.routes.map((route) => [routeKey(route), route])),
      (key) => `route/${key.split(' ', 1)[0] ?? ''}`,
    );
    this.observed = true;
    wake();
  }

  /** Each entry that changed is compared; so at the start each one that there is, also what a former process made and no rule emits. */
  #take<T>(table: Table<T>, seen: ReadonlyMap<string, T>, idOf: (key: string) => string): void {
    for (const [key] of [...table.entries()]) {
      if (seen.has(key)) continue;
      table.delete(key);
      this.#pending.add(idOf(key));
    }
    for (const [key, entry] of seen) {
      if (equal(table.peek(key), entry)) continue;
      table.set(key, entry);
      this.#pending.add(idOf(key));
    }
  }

  /** All identities that a rule emits or that are ours. */
  #all(): ReadonlySet<string> {
    const { desired, world } = this.#options;
    const links = [...world.links.entries()].filter(([, { alias }]) => alias === MARK).map(([name]) => `link/${name}`);
    const routes = [...world.routes.entries()].filter(([, { protocol }]) => protocol === MARK).map(([, { to }]) => `route/${to}`);
    return new Set([...desired.ids, ...links, ...routes]);
  }
}
