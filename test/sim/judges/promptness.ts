/**
 * Promptness: what becomes possible is done because of the event that makes it possible, not when a timer that retries, or any other turn of
 * the process, happens to come by. What happens in a life goes back, message by message, to a step of somebody or to a timer of a process
 * (`VirtualTime.cause`); a change that goes back to a timer which nothing explains was late, however soon it came. A retry is explained by
 * a failure that was inflicted; a turn that the Lease brings about is, where the process has begun to lead with it.
 */
import type { Controller } from '../../../src/controller/controller.ts';
import type { Finding, Judge } from './judge.ts';
import { isTimely } from '../cluster/product-timers.ts';
import type { VirtualTime } from '../cluster/virtual-time.ts';

/** Kinds that change by the clock: who leads, and what is told of all this. */
const BY_THE_CLOCK: ReadonlySet<string> = new Set(['leases', 'events']);

export class Promptness implements Judge {
  readonly #time: VirtualTime;
  readonly #late = new Map<string, string>();
  /** When each process last began to lead, or to write. */
  readonly #led = new Map<string, number>();
  /** Not while a message takes so long that a retry may be faster. */
  #judging = false;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  process(name: string, what: 'started' | 'leads' | 'refused'): void {
    if (what === 'leads') this.#led.set(name, this.#time.now);
  }

  quietly(quietly: boolean): void {
    this.#judging = quietly;
  }

  changed(table: string, key = ''): void {
    const { now, cause } = this.#time;
    if (!this.#judging || cause === undefined || cause.struck || BY_THE_CLOCK.has(table)) return;
    const { process, ms, setAt } = cause;
    // Its own event came since, and waited for the answer to what the timer had sent.
    const [plural = ''] = table.split('.');
    if ((this.#time.heard.get(`${process} ${plural} ${key.includes('/') ? key : `/${key}`}`) ?? -Infinity) >= setAt + ms) return;
    const site = cause.site();
    if (isTimely(site) || (this.#led.get(process) ?? -Infinity) >= setAt + ms || this.#late.has(site)) return;
    this.#late.set(
      site,
      `${process} changed ${`${table} ${key}`.trim()} at ${Math.round(now)} only because ${Math.round(ms)} ms of ${site} were over: what made it possible wakes nobody`,
    );
  }

  /** Between two moments: what a process has taken in, it is at work on. */
  look(process: string, controller: Pick<Controller, 'overlooked'>): void {
    if (!controller.overlooked) return;
    const message = `${process} has taken something in before ${Math.round(this.#time.now)}, and has not asked for a turn: it waits for the next event`;
    this.#late.set('a turn that nobody asked for', message);
  }

  atRest(): readonly Finding[] {
    return [...this.#late].map(([site, message]) => ({ kind: `late ${site}`, message }));
  }

  remember(): void {
    this.#late.clear();
  }
}
