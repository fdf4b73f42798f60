/**
 * Runs rules for objects of the last list while it is still read: the API server takes longest for it. Rules that have `early` do so. If a
 * source changes before the list is complete, the rules run again, as always. Nothing is written before.
 */
import type { Compiler } from '../../engine/compiler.ts';
import type { Output } from '../../compile/output.ts';
import { resourcesWith } from '../../world/resources.ts';
import type { Table } from '../../engine/table.ts';
import type { World } from '../../world/world.ts';

/** Longer than all rules about one object take. */
const SLOW_MS = 50;
const MOST_SLOW = 10;

/** The list that takes longest. */
const [LAST] = resourcesWith('listedLast');

export class EarlyRules {
  readonly #compiler: Compiler<World, Output>;
  readonly #now: () => number;
  /** Objects received, until the list is complete. */
  #come: Set<string> | undefined = new Set();
  #slow = 0;

  /** @param now monotonic milliseconds */
  constructor(world: World, compiler: Compiler<World, Output>, now: () => number) {
    this.#compiler = compiler;
    this.#now = now;
    const table: Pick<Table<unknown>, 'onChange'> | undefined = LAST && world.tables[LAST];
    table?.onChange((key, after) => {
      if (after !== undefined) this.#come?.add(key);
    });
  }

  /** Whether all lists but that one are complete. */
  isTime(missing: readonly string[]): boolean {
    return missing.length === 1 && missing[0] === LAST;
  }

  /** To be called when it is time. @returns false: `enough()` interrupted it; call it again */
  run(enough: () => boolean): boolean {
    const compiler = this.#compiler;
    for (const key of this.#come ?? []) {
      if (enough()) return false;
      this.#come?.delete(key);
      const began = this.#now();
      compiler.runEarly(key);
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
