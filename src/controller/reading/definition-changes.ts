/** A changed CustomResourceDefinition may have the fields that the API server pruned: they are written again. */
import type { PrunedFields } from '../../world/pruned-fields.ts';
import type { ResourceName } from '../../world/resources.ts';

export interface DefinitionChangesOptions {
  readonly pruned: PrunedFields;
  readonly later: (ms: number, run: () => void) => void;
  /** Objects of the kind may have something left to write. */
  readonly changed: () => void;
}

/**
 * A server uses the old definition for a moment longer, and one of several servers for more than that: the answer to a write meanwhile
 * shows the old one again.
 */
const AFTER_MS = [1_000, 10_000, 60_000] as const;

/** @returns to be called with the name of each definition that changed: `<plural>.<group>` */
export function definitionChanges({ pruned, later, changed }: DefinitionChangesOptions): (definition: string) => void {
  return (definition) => {
    const [plural = ''] = definition.split('.');
    const resource = plural as ResourceName;
    if (pruned.of(resource).size === 0) return;
    for (const ms of AFTER_MS)
      later(ms, () => {
        if (pruned.forget(resource)) changed();
      });
  };
}
