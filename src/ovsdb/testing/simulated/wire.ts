/** Both ends of a connection without a socket: what is written arrives later, in order, unless it is lost. */
import { EventEmitter } from 'node:events';
import type { Clock } from '../../clock.ts';
import type { Wire } from '../../transport.ts';

export interface WireOptions {
  readonly clock: Clock;
  /** How long the next message is under way, in milliseconds. */
  readonly latency: () => number;
  readonly toServer: (message: unknown) => void;
  readonly closed: () => void;
  /** The client has put a message on its way. */
  readonly onSent?: (message: unknown) => void;
}

export class SimulatedWire extends EventEmitter implements Wire {
  readonly #options: WireOptions;
  #sentUntil = 0;
  #receivedUntil = 0;
  #destroyed = false;

  constructor(options: WireOptions) {
    super();
    this.#options = options;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** The client sends one message. */
  write(text: string): void {
    const { clock, latency, toServer, onSent } = this.#options;
    const message: unknown = JSON.parse(text);
    this.#sentUntil = Math.max(this.#sentUntil, clock.now() + latency());
    clock.schedule(Math.max(0, this.#sentUntil - clock.now()), () => {
      if (!this.#destroyed) toServer(message);
    });
    onSent?.(message);
  }

  /** The server sends a message. */
  deliver(message: unknown): void {
    this.deliverText(JSON.stringify(message));
  }

  deliverText(text: string): void {
    const { clock, latency } = this.#options;
    const bytes = Buffer.from(text);
    this.#receivedUntil = Math.max(this.#receivedUntil, clock.now() + latency());
    clock.schedule(Math.max(0, this.#receivedUntil - clock.now()), () => {
      if (!this.#destroyed) this.emit('data', bytes);
    });
  }

  /** Messages are small and time does not pass while one is read: there is nothing to hold up. */
  pause(): void {}

  resume(): void {}

  /** The connection breaks: what is under way in either direction is lost. */
  break(): void {
    if (this.#destroyed) return;
    this.destroy();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#options.closed();
    this.#options.clock.schedule(0, () => this.emit('close'));
  }
}
