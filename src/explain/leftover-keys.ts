/**
 * Annotations, labels and finalizers of Kiln that are left on objects of Kubernetes, such as nodes, namespaces and pods, and that nothing asks
 * for, as entries of the plan of the collection. Those of an object that is gone go like its rows. The others go by a change of what they are
 * on or of what asked for them: these are the ones that are still there. Pure.
 */
import { GROUP } from '../api/schema/kind.ts';
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import type { DesiredObjects } from '../compile/desired-objects.ts';
import type { ObjectOutput, PatchOutput } from '../compile/output.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Collected, PlanSources } from './collection-plan.ts';

/** As the API server has it. */
interface Metadata {
  readonly uid: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

export function leftoverKeys(
  world: World,
  desired: Pick<DesiredObjects, 'ids' | 'of'>,
  { ownerExists, policy, hold, now }: PlanSources,
): readonly Collected[] {
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
    const where = { table: traitsOf(resource).kind, name: key, uuid: uid };
    const entry = { ...where, what: 'keys', rule: '', since: null, madeBy: 'Kiln', within: {} } as const;
    for (const [owner, texts] of byOwner(keys)) {
      if (owner === undefined || ownerExists(owner)) {
        const why = `nothing asks for ${texts.join(', ')}; the controller's rules take ${texts.length === 1 ? 'it' : 'them'} away`;
        found.push({ ...entry, fate: 'collect', owner: ownerOf(resource, key), uid, why });
        continue;
      }
      const stays = policy.leftoverStays(id, owner, { now, explained: ownerExists });
      const reason = `nothing asks for ${texts.join(', ')}: ${owner.replace('//', '/')} does not exist`;
      const isHeld = stays === undefined && hold !== undefined;
      const why = stays === undefined ? (isHeld ? `${reason}; it waits for kiln gc approve` : reason) : `${reason}; ${stays.text}`;
      found.push({ ...entry, fate: stays?.why ?? (isHeld ? 'held' : 'collect'), owner, uid: '', why });
    }
  }
  return found.toSorted((a, b) => (`${a.table} ${a.name} ${a.owner}` < `${b.table} ${b.name} ${b.owner}` ? -1 : 1));
}

/** A key as it is told, with the owner text of the object that it was for, if that is gone. */
interface Key {
  readonly text: string;
  readonly owner: string | undefined;
}

function byOwner(keys: readonly Key[]): ReadonlyMap<string | undefined, readonly string[]> {
  const found = new Map<string | undefined, string[]>();
  for (const { text, owner } of keys) {
    const texts = found.get(owner);
    if (texts === undefined) found.set(owner, [text]);
    else texts.push(text);
  }
  return found;
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
): readonly Key[] {
  if (held === undefined) return [];
  const all = patches.flatMap(({ annotations, labels }) => Object.entries((what === 'label' ? labels : annotations) ?? {}));
  const set = new Set(all.flatMap(([key, value]) => (value === null ? [] : [key])));
  const removed = new Set(all.flatMap(([key, value]) => (value === null && held[key] !== undefined && !set.has(key) ? [key] : [])));
  return [...removed].toSorted().map((key) => ({ text: `${what} ${key}`, owner: ownerOfKey(key, what, patches) }));
}

/** Undefined if a patch removes it for a reason of its own. */
function ownerOfKey(key: string, what: 'annotation' | 'label', patches: readonly PatchOutput[]): string | undefined {
  const removing = patches.filter(({ annotations, labels }) => (what === 'label' ? labels : annotations)?.[key] === null);
  const owners = removing.map(({ leftOf }) => leftOf?.[key]);
  return owners.includes(undefined) ? undefined : owners[0];
}

/** An object that is being deleted has its finalizer taken away at the end of the deletion. */
function finalizersLeft({ finalizers = [], deletionTimestamp }: Metadata, patches: readonly PatchOutput[]): readonly Key[] {
  const asked = patches.flatMap(({ finalizer }) => finalizer ?? []);
  if (deletionTimestamp !== undefined || asked.length === 0 || asked.includes(true)) return [];
  return finalizers
    .filter((one) => one === FINALIZER || LEGACY_FINALIZERS.includes(one))
    .map((one) => ({ text: `finalizer ${one}`, owner: undefined }));
}

function ownerOf(resource: ResourceName, key: string): string {
  const { kind, namespaced } = traitsOf(resource);
  return `${kind.toLowerCase()}/${namespaced ? key : `/${key}`}`;
}
