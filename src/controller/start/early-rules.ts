/**
 * While the last list is read, that of IP objects, which takes the API server longest, rules run for the pods whose IP object is there
 * already. What they read may change before the list is complete: then they run again, like any rule. Nothing is written before.
 */
import type { Compiler } from '../../compile/compiler.ts';
import { ipLifecycle } from '../../compile/ip/ip-lifecycle.ts';
import { pod } from '../../compile/pod/pod.ts';
import type { World } from '../../world/world.ts';

/** As long as no rule about one pod takes. */
const SLOW_MS = 50;
const MOST_SLOW = 10;

export class EarlyRules {
  readonly #compiler: Compiler;
  readonly #now: () => number;
  /** IP objects that came, until all are there. */
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

  /** Everything but IP objects is there. @returns false where `enough()` said to yield, and be called again */
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
      // A Subnet's network that is to change asks about all of its IP objects, and again with each piece of the list: that can wait.
      if (this.#now() - began > SLOW_MS && ++this.#slow > MOST_SLOW) this.end();
    }
    return true;
  }

  /** All rules run when their turn comes. */
  end(): void {
    this.#come?.clear();
    this.#come = undefined;
  }
}
