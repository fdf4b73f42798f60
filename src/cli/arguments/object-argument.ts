/** Parses the object of a command: `subnet red`, `subnet/red`, `pod web-0 -n shop`, `pod shop/web-0`, `pod/shop/web-0`. */
import { resourceNamed, TYPED_NAMES, typedName } from '../../explain/kind-names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Resource } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { nearest } from '../../text/edit-distance.ts';
import { commandText, inNamespace } from '../../text/command-text.ts';

export interface NamedObject {
  readonly resource: ResourceName;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
}

/** @param defaultNamespace for namespaced kinds */
export function objectArgument(command: string, kind: string, name: string | undefined, defaultNamespace: string): NamedObject {
  const type = typeArgument(kind);
  const resource = resourceNamed(type);
  if (resource === undefined) throw unknownKind(command, type, TYPED_NAMES);
  return { resource, ...nameArgument(command, kind, name, traitsOf(resource), defaultNamespace) };
}

/** The kind of `KIND`, `KIND/NAME` or `KIND/NAMESPACE/NAME`. */
export function typeArgument(kind: string): string {
  return kind.split('/', 1)[0] ?? '';
}

/** @param known kinds as a user types them */
export function unknownKind(command: string, type: string, known: readonly string[]): CommandFailure {
  const near = nearest(type.toLowerCase(), known);
  return new CommandFailure(
    EXIT.usage,
    `kiln ${command} does not know the kind "${type}"`,
    near !== undefined && near.distance <= 2 && near.distance * 3 <= type.length
      ? `the nearest kind that it knows is ${near.word}`
      : `it is none of ${known.join(', ')}`,
    `kiln ${command} --help`,
  );
}

/**
 * The name and the namespace, which is empty for a kind without one. A namespace before the name is the form of Kiln's own messages, trees
 * and `-o name`.
 */
export function nameArgument(
  command: string,
  kind: string,
  name: string | undefined,
  { namespaced, plural }: Pick<Resource, 'namespaced' | 'plural'>,
  defaultNamespace: string,
): Omit<NamedObject, 'resource'> {
  const type = typeArgument(kind);
  const inOne = kind.includes('/') ? kind.slice(type.length + 1) : undefined;
  if (name !== undefined && inOne !== undefined)
    throw new CommandFailure(
      EXIT.usage,
      `kiln ${command} has two names, ${inOne} and ${name}`,
      'it takes one object',
      `kiln ${command} ${type} ${name}`,
    );
  const given = name ?? inOne ?? '';
  if (given === '')
    throw new CommandFailure(
      EXIT.usage,
      `kiln ${command} ${type} needs a name`,
      'it takes one object',
      commandText`kubectl get ${plural} ${namespaced ? inNamespace(defaultNamespace) : []}`,
    );
  if (!namespaced) return { namespace: '', name: given };
  const at = given.indexOf('/');
  return at === -1 ? { namespace: defaultNamespace, name: given } : { namespace: given.slice(0, at), name: given.slice(at + 1) };
}

/** @throws CommandFailure if the object does not exist */
export async function existing(
  command: string,
  { resource, namespace, name }: NamedObject,
  client: KubeClient,
): Promise<AnyObservedObject> {
  return existingOf(command, traitsOf(resource), namespace, name, client);
}

/**
 * The same for any kind.
 * @param namespace empty for a cluster-scoped object
 */
export async function existingOf(
  command: string,
  resource: Resource,
  namespace: string,
  name: string,
  client: KubeClient,
): Promise<AnyObservedObject> {
  const object = await client.find(resource, namespace === '' ? { name } : { name, namespace });
  if (object !== undefined) return object as unknown as AnyObservedObject;
  const where = namespace === '' ? '' : ` in namespace ${namespace}`;
  const all = commandText`kubectl get ${resource.plural} ${inNamespace(namespace)}`;
  throw new CommandFailure(EXIT.findings, `kiln ${command} found nothing`, `${resource.kind} ${name} does not exist${where}`, all);
}

/** The kind as kubectl prints it: `subnet.kubeovn.io`. */
export function typeText(resource: ResourceName): string {
  const { group } = traitsOf(resource);
  return group === '' ? typedName(resource) : `${typedName(resource)}.${group}`;
}
