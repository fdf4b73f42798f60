/**
 * Rules and tables of routes by source, as a target. They are listed from time to time, since other programs flush them; on a node that has none
 * and needs none nothing is listed.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../target/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { Retries } from '../retries.ts';
import type { RoutingOutput } from '../world/outputs.ts';
import type { Programs } from './programs.ts';
import { listCommand, listedTexts, type RoutingLine, routingLines } from './routing-commands.ts';

const LIST_MS = 4_000;
const ID = 'routing';
const FAMILIES = [4, 6] as const;
const PARTS = ['rule', 'route'] as const;

export interface RoutingTargetOptions {
  readonly programs: Programs;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class RoutingTarget implements Target {
  readonly name = 'the rules of routing';
  readonly busy = false;
  readonly desired = new KeyedOutputs<RoutingOutput>(['routing'], ({ family, part, text }) => `${family} ${part} ${text}`);
  readonly #options: RoutingTargetOptions;
  #present: readonly RoutingLine[] | undefined;
  #working = false;
  #timer: TimerHandle;
  #stopped = false;

  constructor(options: RoutingTargetOptions) {
    this.#options = options;
  }

  get observed(): boolean {
    return this.#present !== undefined;
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
    this.desired.due.add(ID);
  }

  plan(): readonly unknown[] {
    return FAMILIES.flatMap((family) => this.#lines(family).map((line) => ({ family, line })));
  }

  flush(): boolean {
    if (this.desired.due.size === 0 || this.#working || this.#stopped || this.#options.retries.mustWait(ID)) return true;
    this.desired.due.clear();
    if (FAMILIES.some((family) => this.#lines(family).length > 0)) void this.#write();
    else this.#options.retries.succeeded(ID);
    return true;
  }

  #wanted(): readonly RoutingLine[] {
    return [...this.desired.ids].flatMap((id) => this.desired.of(id).slice(0, 1));
  }

  #lines(family: 4 | 6): readonly string[] {
    return this.#present === undefined ? [] : routingLines(family, this.#wanted(), this.#present);
  }

  async #write(): Promise<void> {
    const { programs, retries, log, wake } = this.#options;
    this.#working = true;
    const reasons: string[] = [];
    for (const family of FAMILIES) {
      const lines = this.#lines(family);
      if (lines.length === 0) continue;
      // One line that the kernel refuses (a gateway that is not reached) keeps no other from its effect.
      const ran = await programs.run(['ip', '-force', `-${family}`, '-batch', '-'], `${lines.join('\n')}\n`);
      if (!ran.ok) reasons.push(ran.message);
    }
    this.#present = (await this.#list()) ?? this.#present;
    if (reasons.length === 0) retries.succeeded(ID);
    else {
      log.warn('rules of routing could not be written; they will be tried again', { reason: reasons.join('; ') });
      this.desired.due.add(ID);
      retries.failed(ID, reasons.join('; '));
    }
    this.#working = false;
    wake();
  }

  async #poll(): Promise<void> {
    const { clock, wake } = this.#options;
    const needed = this.#present === undefined || this.#present.length > 0 || this.#wanted().length > 0;
    if (needed && !this.#working) {
      const listed = await this.#list();
      if (listed !== undefined && !this.#working) {
        this.#present = listed;
        this.desired.due.add(ID);
      }
    }
    if (this.#stopped) return;
    this.#timer = clock.setTimeout(() => void this.#poll(), LIST_MS);
    if (needed) wake();
  }

  /** Undefined if the kernel cannot be asked. */
  async #list(): Promise<readonly RoutingLine[] | undefined> {
    const { programs, log } = this.#options;
    return await listRouting(programs).catch((error: unknown) => {
      log.warn('the rules of routing could not be listed', { reason: error instanceof Error ? error.message : String(error) });
      return undefined;
    });
  }
}

/** Rules and routes with our protocol. @throws Error if the kernel cannot be asked */
export async function listRouting(programs: Programs): Promise<readonly RoutingLine[]> {
  const lines: RoutingLine[] = [];
  for (const family of FAMILIES)
    for (const part of PARTS) {
      const ran = await programs.run(listCommand(family, part));
      // A kernel without IPv6 has nothing to list of it.
      if (!ran.ok && family === 6) continue;
      if (!ran.ok) throw new Error(ran.message);
      const listed: unknown = ran.output.trim() === '' ? [] : JSON.parse(ran.output);
      lines.push(...listedTexts(part, listed).map((text) => ({ family, part, text })));
    }
  return lines;
}
