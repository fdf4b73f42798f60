import type { Untrimmed } from '../../world/trim.ts';
import type { World } from '../../world/world.ts';

/**
 * The part `observed` of the record of a kind without a table: what else is kept of an object, and where it goes. For what rules read of
 * a kind that is not implemented.
 */
export interface KindObserved {
  /** Beside identity and conditions. */
  readonly keep: (object: Untrimmed, key: string) => object;
  /** @param kept of an object that came or changed; undefined if it is gone */
  readonly file: (world: World, key: string, kept: object | undefined) => void;
}
