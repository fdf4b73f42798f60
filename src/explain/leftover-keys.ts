/**
 * Annotations, labels and finalizers of Kiln that are left on objects of Kubernetes, such as nodes, namespaces and pods, and that nothing asks
 * for, as entries of the plan of the collection. The rules take each of them away: these are the ones that are still there. Pure.
 */
import { GROUP } from '../api/schema/kind.ts';
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import type { DesiredObjects } from '../compile/desired-objects.ts';
import type { ObjectOutput, PatchOutput } from '../compile/output.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Collected } from './collection-plan.ts';

/** As the API server has it. */
interface Metadata {
  readonly uid: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

export function leftoverKeys(world: World, desired: Pick<DesiredObjects, 'ids' | 'of'>): readonly Collected[] {
  const found: Collected[] = [];
  for (const id of desired.ids) {
    const patches = desired.of(id).filter(isPatchOfOthers);
    const [first] = patches;
    if (first === undefined) continue;
    const { resource, key, uid } = first;
    const metadata: Metadata | undefined = world.tables[resource]?.peek(key)?.metadata;
    if (metadata?.uid !== uid) continue;
    const keys = [
      ...removedKeys('annotation', metadata.annotations, patches),
      ...removedKeys('label', metadata.labels, patches),
      ...finalizersLeft(metadata, patches),
    ];
    if (keys.length === 0) continue;
    const { kind } = traitsOf(resource);
    found.push({
      ...{ fate: 'collect', what: 'keys', table: kind, name: key, uuid: uid, uid, rule: '', since: null, madeBy: 'Kiln', within: {} },
      owner: ownerOf(resource, key),
      why: `nothing asks for ${keys.join(', ')}; the controller's rules take ${keys.length === 1 ? 'it' : 'them'} away`,
    });
  }
  return found.toSorted((a, b) => (`${a.table} ${a.name}` < `${b.table} ${b.name}` ? -1 : 1));
}

/** Objects of kubeovn.io are Kiln's as a whole. */
function isPatchOfOthers(output: ObjectOutput): output is PatchOutput {
  return output.kind === 'patch' && traitsOf(output.resource).group !== GROUP;
}

/** A key that one rule removes and another one sets stays. */
function removedKeys(
  what: 'annotation' | 'label',
  held: Readonly<Record<string, string>> | undefined,
  patches: readonly PatchOutput[],
): readonly string[] {
  if (held === undefined) return [];
  const all = patches.flatMap(({ annotations, labels }) => Object.entries((what === 'label' ? labels : annotations) ?? {}));
  const set = new Set(all.flatMap(([key, value]) => (value === null ? [] : [key])));
  const removed = new Set(all.flatMap(([key, value]) => (value === null && held[key] !== undefined && !set.has(key) ? [key] : [])));
  return [...removed].toSorted().map((key) => `${what} ${key}`);
}

/** An object that is being deleted has its finalizer taken away at the end of the deletion. */
function finalizersLeft({ finalizers = [], deletionTimestamp }: Metadata, patches: readonly PatchOutput[]): readonly string[] {
  const asked = patches.flatMap(({ finalizer }) => finalizer ?? []);
  if (deletionTimestamp !== undefined || asked.length === 0 || asked.includes(true)) return [];
  return finalizers.filter((one) => one === FINALIZER || LEGACY_FINALIZERS.includes(one)).map((one) => `finalizer ${one}`);
}

function ownerOf(resource: ResourceName, key: string): string {
  const { kind, namespaced } = traitsOf(resource);
  return `${kind.toLowerCase()}/${namespaced ? key : `/${key}`}`;
}
