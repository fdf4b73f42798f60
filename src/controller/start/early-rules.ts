/**
 * Runs rules for pods with an IP object while the last list, that of IP objects, is still read: the API server takes longest for it. If a
 * source changes before the list is complete, the rules run again, as always. Nothing is written before.
 */
import type { Compiler } from '../../compile/compiler.ts';
import { ipLifecycle } from '../../compile/ip/ip-lifecycle.ts';
import { pod } from '../../compile/pod/pod.ts';
import type { World } from '../../world/world.ts';

/** Longer than any rule about one pod takes. */
const SLOW_MS = 50;
const MOST_SLOW = 10;

/** The list that takes longest. */
const LAST = 'ips';

export class EarlyRules {
  readonly #compiler: Compiler;
  readonly #now: () => number;
  /** IP objects received, until the list is complete. */
  #come: Set<string> | undefined = new Set();
  #slow = 0;

  /** @param now monotonic milliseconds */
  constructor(world: World, compiler: Compiler, now: () => number) {
    this.#compiler = compiler;
    this.#now = now;
    world.ips.onChange((name, after) => {
      if (after !== undefined) this.#come?.add(name);
    });
  }

  /** Whether all lists but that of IP objects are complete. */
  isTime(missing: readonly string[]): boolean {
    return missing.length === 1 && missing[0] === LAST;
  }

  /** To be called when it is time. @returns false: `enough()` interrupted it; call it again */
  run(enough: () => boolean): boolean {
    const compiler = this.#compiler;
    for (const name of this.#come ?? []) {
      if (enough()) return false;
      this.#come?.delete(name);
      const ip = compiler.world.ips.peek(name);
      if (ip === undefined) continue;
      const began = this.#now();
      compiler.runNow(pod, `${ip.spec.namespace}/${ip.spec.podName}`);
      compiler.runNow(ipLifecycle, name);
      // A Subnet with a changed network reads all its IP objects, again with each piece of the list: that can wait.
      if (this.#now() - began > SLOW_MS && ++this.#slow > MOST_SLOW) this.end();
    }
    return true;
  }

  /** From now on all rules run in the usual order. */
  end(): void {
    this.#come?.clear();
    this.#come = undefined;
  }
}
