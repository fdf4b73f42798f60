/** Objects of kinds that Kiln does not implement, and single fields and annotations that it does not implement. */
import { commandText, inNamespace } from '../text/command-text.ts';
import type { ResourceName } from '../world/resources.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { AnyObservedObject, UnimplementedObject, World } from '../world/world.ts';
import { typedName } from './kind-names.ts';

/** Objects of one kind for which the same is not implemented. */
export interface UnimplementedGroup {
  readonly resource: ResourceName;
  /** The first of them, by name. */
  readonly key: string;
  readonly count: number;
  readonly message: string;
  /** A command. */
  readonly next: string;
}

const MOST_NAMED = 4;
/** The API server creates this Service in every cluster; no user requested it. */
const OF_THE_CLUSTER = 'services/default/kubernetes';

/** One group for each kind, however many objects there are. */
export function unimplementedGroups(
  world: World,
  chosen: (resource: ResourceName, key: string, object: Pick<AnyObservedObject, 'metadata' | 'spec'>) => boolean,
): readonly UnimplementedGroup[] {
  const objects = unimplementedObjects(world).filter((object) => chosen(object.resource, object.key, standIn(object)));
  return [...Map.groupBy(objects, ({ resource, feature }) => `${resource} ${feature}`).values()].map(groupOf);
}

/** Those that a user requested. */
export function unimplementedObjects(world: World): readonly UnimplementedObject[] {
  return [...world.unimplemented.entries()].flatMap(([id, object]) => (id === OF_THE_CLUSTER ? [] : [object]));
}

function groupOf(objects: readonly UnimplementedObject[]): UnimplementedGroup {
  const keys = objects.map(({ key }) => key).toSorted();
  const [key = ''] = keys;
  const { resource, feature } = objects[0] as UnimplementedObject;
  const { kind } = traitsOf(resource);
  const { namespace, name } = splitKey(key);
  const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : '';
  return {
    resource,
    key,
    count: keys.length,
    message: `${kind} ${keys.slice(0, MOST_NAMED).join(', ')}${more}: this version of Kiln does not implement ${feature}`,
    next: commandText`kiln explain ${typedName(resource)} ${name} ${inNamespace(namespace)}`,
  };
}

/** The World keeps of these objects only what is reported about them. */
function standIn({ key, uid }: UnimplementedObject): Pick<AnyObservedObject, 'metadata' | 'spec'> {
  const { namespace, name } = splitKey(key);
  return { metadata: { name, uid, resourceVersion: '', creationTimestamp: '', ...(namespace !== '' && { namespace }) } };
}
