/**
 * An object as commands are given it: `subnet red`, `subnet/red`, `pod web-0 -n shop`, `pod shop/web-0`.
 */
import { resourceNamed, TYPED_NAMES, typedName } from '../explain/kind-names.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Resource } from '../kube/resource.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { AnyObservedObject } from '../world/world.ts';
import { CommandFailure, EXIT } from './command-failure.ts';
import { commandText, inNamespace } from '../text/command-text.ts';

export interface NamedObject {
  readonly resource: ResourceName;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
}

/** @param defaultNamespace of kinds that have one */
export function objectArgument(command: string, kind: string, name: string | undefined, defaultNamespace: string): NamedObject {
  const [type = ''] = kind.split('/', 2);
  const resource = resourceNamed(type);
  if (resource === undefined) throw unknownKind(command, type, TYPED_NAMES);
  const { namespaced, plural } = traitsOf(resource);
  const said = nameArgument(command, kind, name, plural);
  if (!namespaced) return { resource, namespace: '', name: said };
  // As Kiln's own sentences name it: `pod shop/web-0`.
  const [one = '', other] = said.split('/', 2);
  return other === undefined ? { resource, namespace: defaultNamespace, name: one } : { resource, namespace: one, name: other };
}

/** @param known kinds as a person types them */
export function unknownKind(command: string, type: string, known: readonly string[]): CommandFailure {
  return new CommandFailure(
    EXIT.usage,
    `kiln ${command} does not know the kind "${type}"`,
    `it is none of ${known.join(', ')}`,
    `kiln ${command} --help`,
  );
}

/** The name, given by itself or as `KIND/NAME`. @param plural of the kind, for a hint */
export function nameArgument(command: string, kind: string, name: string | undefined, plural: string): string {
  const [type = '', inOne] = kind.split('/', 2);
  if (name !== undefined && inOne !== undefined)
    throw new CommandFailure(
      EXIT.usage,
      `kiln ${command} is given two names, ${inOne} and ${name}`,
      'it takes one object',
      `kiln ${command} ${type} ${name}`,
    );
  const said = name ?? inOne ?? '';
  if (said === '')
    throw new CommandFailure(EXIT.usage, `kiln ${command} ${type} needs a name`, 'it takes one object', commandText`kubectl get ${plural}`);
  return said;
}

/** @throws CommandFailure where there is no such object */
export async function existing(
  command: string,
  { resource, namespace, name }: NamedObject,
  client: KubeClient,
): Promise<AnyObservedObject> {
  return existingOf(command, traitsOf(resource), namespace, name, client);
}

/** The same of any kind. @param namespace empty for cluster scope */
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

/** As kubectl names an object of this kind: `subnet.kubeovn.io`. */
export function typeText(resource: ResourceName): string {
  const { group } = traitsOf(resource);
  return group === '' ? typedName(resource) : `${typedName(resource)}.${group}`;
}
