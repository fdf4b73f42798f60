/** The outputs of all rules, each handed to the part of the desired state that has its kind. */
import { equal } from './equal.ts';

/** An output as the engine sees it: plain data. `kind` decides which part of the desired state takes it. */
export interface AnyOutput {
  readonly kind: string;
}

/**
 * The outputs of some kinds, by identity: what one target, or one step between rules, compares with what it observes.
 *
 * Guarantees: each output that a rule emits is added once, and removed once when the rule no longer emits it. An equal output of the next
 * run is neither. A part also records which identities have changed since its reader last looked (`due…`), so that the reader compares no
 * others. `add` and `remove` are called while rules run: they take constant time, and read and write nothing else.
 */
export interface DesiredPart<O extends AnyOutput> {
  /** The kinds of its outputs: no other part has them. */
  readonly kinds: readonly O['kind'][];
  /** A name for finding equal outputs: equal outputs have the same name, and few others do, however many there are of one identity. */
  nameOf(output: O): string;
  add(output: O): void;
  remove(output: O): void;
}

/** The desired state as the engine sees it: its parts, one for each target or step. */
export class Outputs<O extends AnyOutput> {
  readonly #parts = new Map<string, DesiredPart<O>>();

  constructor(parts: readonly DesiredPart<O>[]) {
    for (const part of parts)
      for (const kind of part.kinds) {
        if (this.#parts.has(kind)) throw new Error(`two parts of the desired state take outputs of kind ${kind}`);
        this.#parts.set(kind, part);
      }
  }

  /**
   * Replaces the outputs of a rule's last run for a key. An equal output changes nothing.
   * @param before the result of the last call for this rule and key
   * @throws Error for an output of a kind that no part takes
   */
  replace(before: readonly O[], after: readonly O[]): readonly O[] {
    if (before.length === 0) {
      for (const output of after) this.#partOf(output).add(output);
      return after;
    }
    const reused = new Set<O>();
    const nameOf = (output: O): string => this.#partOf(output).nameOf(output);
    let named: ReadonlyMap<string, readonly O[]> | undefined;
    let places: ReadonlyMap<O, number> | undefined;
    // Most outputs keep their position, but for what was removed or added before them.
    let shift = 0;
    const held = after.map((output, place) => {
      const there = before[place + shift];
      let same = there !== undefined && !reused.has(there) && equal(there, output) ? there : undefined;
      if (same === undefined) {
        places ??= new Map(before.map((one, at) => [one, at]));
        same = (named ??= Map.groupBy(before, nameOf)).get(nameOf(output))?.find((one) => !reused.has(one) && equal(one, output));
        shift = (same === undefined ? place + shift - 1 : (places.get(same) as number)) - place;
      }
      if (same === undefined) this.#partOf(output).add(output);
      else reused.add(same);
      return same ?? output;
    });
    for (const output of before) if (!reused.has(output)) this.#partOf(output).remove(output);
    return held;
  }

  #partOf(output: O): DesiredPart<O> {
    const part = this.#parts.get(output.kind);
    if (part === undefined) throw new Error(`no part of the desired state takes outputs of kind ${output.kind}`);
    return part;
  }
}
