/** Parses the object of a command: `subnet red`, `subnet/red`, `pod web-0 -n shop`, `pod shop/web-0`. */
import { resourceNamed, TYPED_NAMES, typedName } from '../../explain/kind-names.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Resource } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { commandText, inNamespace } from '../../text/command-text.ts';

export interface NamedObject {
  readonly resource: ResourceName;
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
}

/** @param defaultNamespace for namespaced kinds */
export function objectArgument(command: string, kind: string, name: string | undefined, defaultNamespace: string): NamedObject {
  const [type = ''] = kind.split('/', 2);
  const resource = resourceNamed(type);
  if (resource === undefined) throw unknownKind(command, type, TYPED_NAMES);
  const { namespaced, plural } = traitsOf(resource);
  const named = nameArgument(command, kind, name, plural);
  if (!namespaced) return { resource, namespace: '', name: named };
  // The form in Kiln's own messages: `pod shop/web-0`.
  const [one = '', other] = named.split('/', 2);
  return other === undefined ? { resource, namespace: defaultNamespace, name: one } : { resource, namespace: one, name: other };
}

/** @param known kinds as a user types them */
export function unknownKind(command: string, type: string, known: readonly string[]): CommandFailure {
  return new CommandFailure(
    EXIT.usage,
    `kiln ${command} does not know the kind "${type}"`,
    `it is none of ${known.join(', ')}`,
    `kiln ${command} --help`,
  );
}

/**
 * The name, alone or as `KIND/NAME`.
 * @param plural of the kind, for a hint
 */
export function nameArgument(command: string, kind: string, name: string | undefined, plural: string): string {
  const [type = '', inOne] = kind.split('/', 2);
  if (name !== undefined && inOne !== undefined)
    throw new CommandFailure(
      EXIT.usage,
      `kiln ${command} has two names, ${inOne} and ${name}`,
      'it takes one object',
      `kiln ${command} ${type} ${name}`,
    );
  const given = name ?? inOne ?? '';
  if (given === '')
    throw new CommandFailure(EXIT.usage, `kiln ${command} ${type} needs a name`, 'it takes one object', commandText`kubectl get ${plural}`);
  return given;
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
