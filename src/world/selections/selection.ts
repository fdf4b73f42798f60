/**
 * Selections: which pods a selector selects, as the live set of their label sets.
 *
 * Guarantees: equal selectors share one selection. A label set enters with the first pod that has it, and leaves with the last one, or when
 * the labels of its namespace change.
 *
 * Cost: a new pod with known labels costs nothing here. A new label set is compared with the selections that require one of its labels, and
 * with those of its namespace that require none; a new selection is compared with the label sets that have the label it requires.
 */
import { parseLabelSet } from '../label-set.ts';
import type { LabelSet } from '../label-set.ts';
import { keysOf, valuesOf } from '../../engine/domain.ts';
import type { TableDefinition } from '../../engine/derived-table.ts';
import type { SetDefinition } from '../../engine/sets/set-definition.ts';
import type { World } from '../world.ts';
import { defineSet, defineTable, where } from '../world.ts';
import type { SelectorText } from './selector.ts';
import { filedUnder, matches, parseSelector, telling } from './selector.ts';

/** All label sets that a pod has. Index `label`: namespace, line end, and a label key with or without a value; `namespace`. */
const labelSets: TableDefinition<World, LabelSet> = defineTable<LabelSet>(
  'label-sets',
  (world) => valuesOf(world.pods, 'labelSet'),
  (_, name) => parseLabelSet(name),
  {
    namespace: ({ namespace }) => [namespace],
    label: ({ namespace, labels }) => filedUnder(labels).map((value) => `${namespace}\n${value}`),
  },
);

/** The labels of namespaces. Index `label`: a label key with or without a value; `all`: the empty text. */
const namespaceLabels: TableDefinition<World, Readonly<Record<string, string>>> = defineTable(
  'namespace-labels',
  (world) => keysOf(world.namespaces),
  (world, name) => world.namespaces.get(name)?.metadata.labels ?? {},
  { all: () => [''], label: filedUnder },
);

/** Namespaces that the namespace selector of a selector selects. */
const selectedNamespaces: SetDefinition<World> = defineSet(
  'selected-namespaces',
  (world, text) => {
    const { namespaces } = parseSelector(text);
    if (typeof namespaces === 'string') return [{ kind: 'keys', keys: [namespaces] }];
    const table = world.derived(namespaceLabels);
    const values = telling(namespaces);
    return values === undefined
      ? [{ kind: 'bucket', table, index: 'all', value: '' }]
      : values.map((value) => ({ kind: 'bucket', table, index: 'label', value }));
  },
  where((world, text, name) => {
    const { namespaces } = parseSelector(text);
    return typeof namespaces === 'string' || matches(namespaces, world.derived(namespaceLabels).get(name));
  }),
);

/** Label sets of one namespace that the pod selector of a selector selects. */
const selectedInNamespace: SetDefinition<World> = defineSet(
  'label-sets-of-namespace',
  (world, text) => {
    const { namespaces, pods } = parseSelector(text);
    const table = world.derived(labelSets);
    const namespace = String(namespaces);
    const values = telling(pods);
    return values === undefined
      ? [{ kind: 'bucket', table, index: 'namespace', value: namespace }]
      : values.map((value) => ({ kind: 'bucket', table, index: 'label', value: `${namespace}\n${value}` }));
  },
  where((world, text, name) => matches(parseSelector(text).pods, world.derived(labelSets).get(name)?.labels)),
);

/** The label sets that a selector selects, by its text. */
export const selection: SetDefinition<World> = defineSet('selection', (world, text) => {
  const { pods } = parseSelector(text);
  return world
    .set(selectedNamespaces, text)
    .all()
    .map((namespace) => ({ kind: 'set', of: selectedInNamespace, key: JSON.stringify([namespace, pods]) }));
});

/** Number of pods that a selector selects. Cost: one step for each label set. */
export function countSelected(world: World, text: SelectorText): number {
  let count = 0;
  for (const labelSet of world.set(selection, text).all()) count += world.pods.bucket('labelSet', labelSet).size;
  return count;
}
