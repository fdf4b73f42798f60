/** Outputs by identity, and the identities whose outputs have changed: all that a target needs whose outputs have one identity each. */
import { byContents } from './content-order.ts';
import type { AnyOutput, DesiredPart } from './outputs.ts';

const NONE: readonly never[] = [];

export class KeyedOutputs<O extends AnyOutput, Id extends string = string> implements DesiredPart<O> {
  readonly kinds: readonly O['kind'][];
  /** Identities with an output that was added or removed. The reader deletes those that it takes. */
  readonly due = new Set<Id>();
  readonly #idOf: (output: O) => Id;
  readonly #outputs = new Map<Id, readonly O[]>();
  /** Identities with several outputs, which are not in order yet. */
  readonly #unordered = new Set<Id>();

  readonly #isOrdered: boolean;

  /**
   * @param idOf the identity of an output: a pure function
   * @param order `any` where the reader merges the outputs for an identity in such a way that their order does not matter
   */
  constructor(kinds: readonly O['kind'][], idOf: (output: O) => Id, order: 'by contents' | 'any' = 'by contents') {
    this.kinds = kinds;
    this.#idOf = idOf;
    this.#isOrdered = order === 'by contents';
  }

  /** The outputs for an identity, in an order that follows from their contents: not from the order in which rules emitted them. */
  of(id: Id): readonly O[] {
    if (this.#unordered.delete(id)) this.#outputs.set(id, (this.#outputs.get(id) ?? NONE).toSorted(byContents));
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
    if (present !== undefined && this.#isOrdered) this.#unordered.add(id);
    this.due.add(id);
  }

  remove(output: O): void {
    const id = this.#idOf(output);
    const rest = (this.#outputs.get(id) ?? NONE).filter((one) => one !== output);
    if (rest.length === 0) this.#outputs.delete(id);
    else this.#outputs.set(id, rest);
    if (rest.length < 2) this.#unordered.delete(id);
    this.due.add(id);
  }
}
