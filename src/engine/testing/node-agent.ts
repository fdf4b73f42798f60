/** A process of the node's rules with one target, in virtual time: reads, derives and writes like the controller, by the same loop. */
import { Compiler } from '../compiler.ts';
import type { ManualClock } from '../../timing/testing/manual-clock.ts';
import { Turns } from '../turns.ts';
import type { FakeKernel } from './fake-kernel.ts';
import { KernelTarget } from './kernel-target.ts';
import { NODE, NODE_RULES, NodeDesired, NodeWorld } from './node-world.ts';

const MOST_STEPS = 1_000;

export class NodeAgent implements AsyncDisposable {
  readonly world = new NodeWorld();
  readonly desired = new NodeDesired();
  readonly target: KernelTarget;
  readonly #turns: Turns;
  readonly #clock: ManualClock;

  constructor(kernel: FakeKernel, clock: ManualClock) {
    this.#clock = clock;
    const wake = (): void => this.#turns.wake();
    const later = (ms: number, run: () => void): void => void clock.setTimeout(run, ms);
    this.target = new KernelTarget({ kernel, world: this.world, desired: this.desired.kernel, later, wake });
    this.#turns = new Turns({ reactor: this.world.reactor, targets: [this.target], clock, defer: setImmediate });
    void new Compiler(this.world, this.desired, NODE_RULES, ({ error }) => {
      throw error;
    });
  }

  /** A pod on this node, as the API server sends it. */
  put(pod: string, node = NODE): void {
    const [namespace = '', name = ''] = pod.split('/');
    const metadata = { name, namespace, uid: pod, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
    this.world.pods.set(pod, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: node } });
    this.#turns.wake();
  }

  putSubnet(name: string, cidrBlock: string): void {
    const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
    this.world.subnets.set(name, { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata, spec: { cidrBlock } });
    this.#turns.wake();
  }

  delete(pod: string): void {
    this.world.pods.delete(pod);
    this.#turns.wake();
  }

  start(): this {
    this.target.start();
    return this;
  }

  /** Waits until nothing is due or under way. */
  async converged(): Promise<void> {
    for (let step = 0; step < MOST_STEPS; step++) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      const { observed, committed, scheduled } = this.#turns;
      if (observed && committed && !scheduled && this.world.reactor.isIdle) return;
    }
    this.#turns.stop();
    throw new Error('the node does not converge');
  }

  /** Lets the time pass, and waits for what follows. */
  async pass(ms: number): Promise<void> {
    this.#clock.advance(ms);
    await this.converged();
    // A read that this began may still be under way.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    await this.converged();
  }

  /** Reports about pods. */
  get problems(): readonly string[] {
    const { problems } = this.desired;
    return [...problems.ids].flatMap((pod) => problems.of(pod).map(({ message }) => `${pod}: ${message}`)).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#turns.stop();
    await this.target.stop();
  }
}
