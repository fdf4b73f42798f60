/** Both ends of a connection without a socket: what is written arrives later, in order, unless it is lost. */
import { EventEmitter } from 'node:events';
import type { Scheduler } from '../../../timing/clock.ts';
import type { Wire } from '../../transport.ts';

export interface WireOptions {
  readonly clock: Scheduler;
  /** Milliseconds until the next message arrives. */
  readonly latency: () => number;
  readonly toServer: (message: object) => void;
  readonly closed: () => void;
  /** The client has sent a message. */
  readonly onSent?: (message: object) => void;
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

  write(): void {
    throw new Error('messages go as they are, not as text');
  }

  /** The client sends one message. */
  send(message: object): void {
    const { clock, latency, toServer, onSent } = this.#options;
    this.#sentUntil = Math.max(this.#sentUntil, clock.now() + latency());
    clock.schedule(Math.max(0, this.#sentUntil - clock.now()), () => {
      if (!this.#destroyed) toServer(message);
    });
    onSent?.(message);
  }

  /** The server sends a message. @param onReceived called right before the client gets it */
  deliver(message: object, onReceived?: () => void): void {
    const { clock, latency } = this.#options;
    this.#receivedUntil = Math.max(this.#receivedUntil, clock.now() + latency());
    clock.schedule(Math.max(0, this.#receivedUntil - clock.now()), () => {
      if (this.#destroyed) return;
      onReceived?.();
      this.emit('message', message);
    });
  }

  /** Does nothing: messages are small, and simulated time does not pass while one is read. */
  pause(): void {}

  resume(): void {}

  /** The connection breaks: messages in flight in either direction are lost. */
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
