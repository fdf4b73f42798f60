/** Outputs by identity, and the identities whose outputs have changed: all that a target needs whose outputs have one identity each. */
import type { AnyOutput, DesiredPart } from './outputs.ts';

const NONE: readonly never[] = [];

export class KeyedOutputs<O extends AnyOutput, Id extends string = string> implements DesiredPart<O> {
  readonly kinds: readonly O['kind'][];
  /** Identities with an output that was added or removed. The reader deletes those that it takes. */
  readonly due = new Set<Id>();
  readonly #idOf: (output: O) => Id;
  readonly #outputs = new Map<Id, readonly O[]>();

  /** @param idOf the identity of an output: a pure function */
  constructor(kinds: readonly O['kind'][], idOf: (output: O) => Id) {
    this.kinds = kinds;
    this.#idOf = idOf;
  }

  /** The outputs for an identity, in the order in which they were added. */
  of(id: Id): readonly O[] {
    return this.#outputs.get(id) ?? NONE;
  }

  /** Identities with an output. */
  get ids(): IterableIterator<Id> {
    return this.#outputs.keys();
  }

  nameOf(output: O): string {
    return this.#idOf(output);
  }

  add(output: O): void {
    const id = this.#idOf(output);
    const present = this.#outputs.get(id);
    this.#outputs.set(id, present === undefined ? [output] : [...present, output]);
    this.due.add(id);
  }

  remove(output: O): void {
    const id = this.#idOf(output);
    const rest = this.of(id).filter((one) => one !== output);
    if (rest.length === 0) this.#outputs.delete(id);
    else this.#outputs.set(id, rest);
    this.due.add(id);
  }
}
