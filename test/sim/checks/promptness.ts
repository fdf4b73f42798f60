/**
 * Promptness: when an event makes a write possible, the event itself causes the write, not the next retry or another turn that happens to
 * come. Each thing that happens in a life has a cause, traced from message to message: a step of the history or a timer of a
 * process (`VirtualTime.cause`). A change caused by a timer without an explanation was late, however soon it came. A retry is explained by
 * an injected fault; a turn that renewing the Lease causes is explained if the process began to lead with it.
 */
import type { Controller } from '../../../src/controller/controller.ts';
import type { Finding, Check } from './check.ts';
import { isTimely } from '../cluster/product-timers.ts';
import type { VirtualTime } from '../cluster/virtual-time.ts';

/** Kinds that change by the clock: the Lease, and Events. */
const BY_THE_CLOCK: ReadonlySet<string> = new Set(['leases', 'events']);

export class Promptness implements Check {
  readonly #time: VirtualTime;
  readonly #late = new Map<string, string>();
  /** When each process last began to lead, or to write. */
  readonly #led = new Map<string, number>();
  /** False while messages take so long that a retry may be faster. */
  #checking = false;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  process(name: string, what: 'started' | 'leads' | 'failed'): void {
    if (what === 'leads') this.#led.set(name, this.#time.now);
  }

  quietly(quietly: boolean): void {
    this.#checking = quietly;
  }

  changed(table: string, key = ''): void {
    const { now, cause } = this.#time;
    if (!this.#checking || cause === undefined || cause.afterFault || BY_THE_CLOCK.has(table)) return;
    const { process, ms, setAt } = cause;
    // The event of this object came since, and had to wait for the answer to what the timer sent.
    const [plural = ''] = table.split('.');
    if ((this.#time.receivedAt.get(`${process} ${plural} ${key.includes('/') ? key : `/${key}`}`) ?? -Infinity) >= setAt + ms) return;
    const site = cause.site();
    if (isTimely(site) || (this.#led.get(process) ?? -Infinity) >= setAt + ms || this.#late.has(site)) return;
    this.#late.set(
      site,
      `${process} changed ${`${table} ${key}`.trim()} at ${Math.round(now)} only because the timer of ${Math.round(ms)} ms at ${site} ended: the event that made it possible caused nothing`,
    );
  }

  /** Called between two points of virtual time: a process must already be working on what it has received. */
  poll(process: string, controller: Pick<Controller, 'overlooked'>): void {
    if (!controller.overlooked) return;
    const message = `${process} received a change before ${Math.round(this.#time.now)}, and has no turn scheduled: it waits for the next event`;
    this.#late.set('no turn scheduled', message);
  }

  whenConverged(): readonly Finding[] {
    return [...this.#late].map(([site, message]) => ({ kind: `late ${site}`, message }));
  }

  baseline(): void {
    this.#late.clear();
  }
}
