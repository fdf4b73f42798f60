/**
 * The node's own interfaces as a target: which addresses and routes are on an interface of a ProviderNetwork, and which on its bridge. All
 * devices are read at the start, and from time to time while a network uses one of them.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../target/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { equal } from '../../world/equal.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Retries } from '../retries.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { MoveOutput } from '../world/outputs.ts';
import { portKey } from '../world/port-keys.ts';
import type { HostLink } from '../world/provider-network.ts';
import { hostLinks } from './host-links.ts';
import { moveLines } from './uplink-commands.ts';

/** Another program may put an address back to the interface: it is noticed after this time. */
const LIST_MS = 2_000;
/** While Open vSwitch makes the device of a bridge. */
const SOON_MS = 200;

export interface UplinkTargetOptions {
  readonly world: NodeWorld;
  readonly programs: Programs;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class UplinkTarget implements Target {
  readonly name = 'the interfaces of the node';
  readonly busy = false;
  readonly desired = new KeyedOutputs<MoveOutput>(['move'], moveId);
  readonly #options: UplinkTargetOptions;
  #seen: ReadonlyMap<string, HostLink> | undefined;
  #working = false;
  #timer: TimerHandle;
  #stopped = false;

  constructor(options: UplinkTargetOptions) {
    this.#options = options;
  }

  get observed(): boolean {
    return this.#seen !== undefined;
  }

  get quiet(): boolean {
    return !this.#working && this.desired.due.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  start(): void {
    void this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    while (this.#working) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  examineAll(): void {
    for (const id of this.desired.ids) this.desired.due.add(id);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (id) => ({ id, lines: this.#lines(id) })).filter(({ lines }) => lines.length > 0);
  }

  flush(): boolean {
    for (const id of this.desired.due) {
      if (this.#working || this.#stopped) break;
      if (this.#options.retries.mustWait(id)) continue;
      this.desired.due.delete(id);
      const lines = this.#lines(id);
      if (lines.length > 0) void this.#write(id, lines);
      else this.#options.retries.succeeded(id);
    }
    return true;
  }

  #lines(id: string): readonly string[] {
    const [output] = this.desired.of(id);
    if (output === undefined) return [];
    const { from, to, network } = output;
    const [source, target] = [this.#seen?.get(from), this.#seen?.get(to)];
    // Open vSwitch has not made the bridge's device yet, or the interface is gone.
    if (target === undefined) return [];
    return moveLines(from, to, network, source ?? { addresses: [], routes: [] }, target);
  }

  /** One process, which ends its work also if the agent is killed meanwhile. */
  async #write(id: string, lines: readonly string[]): Promise<void> {
    const { programs, retries, log, wake } = this.#options;
    this.#working = true;
    const ran = await programs.run(['ip', '-batch', '-'], `${lines.join('\n')}\n`);
    if (ran.ok) retries.succeeded(id);
    else {
      log.warn('addresses and routes could not be moved; it will be tried again', { id, reason: ran.message });
      retries.failed(id, `ip: ${ran.message}`);
    }
    this.desired.due.add(id);
    await this.#list();
    this.#working = false;
    wake();
  }

  async #poll(): Promise<void> {
    const { world, clock, wake } = this.#options;
    const isUsed = world.providerNetworks.size > 0 || this.desired.ids.next().done !== true;
    if (!this.#working && (this.#seen === undefined || isUsed)) await this.#list();
    if (this.#stopped) return;
    this.#timer = clock.setTimeout(() => void this.#poll(), this.#waitsForDevice() ? SOON_MS : LIST_MS);
    wake();
  }

  #waitsForDevice(): boolean {
    return [...this.#options.world.bridges.entries()].some(
      ([name, { externalIds }]) => externalIds[portKey.providerNetwork] !== undefined && this.#seen?.has(name) !== true,
    );
  }

  async #list(): Promise<void> {
    const { world, programs, log } = this.#options;
    try {
      const seen = await hostLinks(programs);
      for (const name of this.#seen?.keys() ?? []) if (!seen.has(name)) world.hostLinks.delete(name);
      for (const [name, link] of seen) {
        const before = world.hostLinks.peek(name);
        if (before === undefined || !equal(before, link)) world.hostLinks.set(name, link);
      }
      this.#seen = seen;
      for (const id of this.desired.ids) this.desired.due.add(id);
    } catch (error) {
      log.warn('the interfaces of this node could not be listed', { reason: String(error) });
    }
  }
}

/** One for each target device. */
export function moveId({ to }: Pick<MoveOutput, 'to'>): string {
  return `move ${to}`;
}
