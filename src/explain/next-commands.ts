/**
 * The next commands for an object that waits: for its blockers, its dependencies, or the command that its condition names.
 */
import { GROUP } from '../api/schema/kind.ts';
import type { Blockers } from '../blockers/blockers.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCE_NAMES, splitKey, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { cascadeOf } from './cascade.ts';
import type { TreeObject } from './dependents.ts';
import { typedName } from './kind-names.ts';
import { commandAtEnd, commandText, inNamespace, nameArgument } from '../text/command-text.ts';

export interface Waiter {
  readonly resource: ResourceName;
  readonly key: string;
  readonly blockers: Blockers;
  readonly waiting: { readonly reason: string; readonly message: string };
  /** Its dependencies. */
  readonly dependencies: readonly TreeObject[];
}

export function nextCommands(world: World, { resource, key, blockers, waiting, dependencies }: Waiter): string[] {
  const { reason, message } = waiting;
  const object = objectText(resource, key);
  if (reason === 'DeletionBlocked' && blockers.count > 0) {
    const first = blockers.names.slice(0, 1).map((name) => commandText`kiln explain ${blockerText(name)}`);
    if (blockers.edits.length > 0) return [...blockers.edits.map(({ command }) => command), ...first];
    // `kiln delete` rejects objects that Kiln creates again or that nodes use.
    const goes = cascadeOf(world, resource, key).obstacles.length === 0;
    return goes ? [commandText`kiln delete ${object} --cascade --dry-run=client`, ...first] : first;
  }
  if (reason === 'ForeignFinalizer') return [commandText`kubectl get ${object} -o jsonpath='{.metadata.finalizers}'`];
  const ending = commandAtEnd(message);
  const named = reason === 'DeletionBlocked' && ending?.startsWith('ovn-nbctl ') !== true ? undefined : ending;
  // The user already reads the output of that command, so show the object behind it.
  const onward = named === commandText`kiln explain ${object}` ? (faultAmong(dependencies) ?? faultNamedIn(world, message)) : named;
  // A message of a kind without conditions names no command.
  const edit = reason === 'AnnotationUnread' ? commandText`kubectl edit ${object}` : undefined;
  return [onward ?? edit ?? faultAmong(dependencies) ?? commandText`kubectl describe ${object}`];
}

/** The command for the first dependency that is missing or not ready. */
function faultAmong(dependencies: readonly TreeObject[]): string | undefined {
  for (const one of dependencies) {
    const { resource, namespace, name, uid, state } = one;
    if (uid === undefined) return commandText`kubectl get ${traitsOf(resource).plural} ${inNamespace(namespace)}`;
    if (state.ready === 'False') return commandText`kiln explain ${objectText(resource, namespace === '' ? name : `${namespace}/${name}`)}`;
    const above = faultAmong(one.children);
    if (above !== undefined) return above;
  }
  return undefined;
}

/** Kinds of which messages name single objects that a user can look at. */
const NAMED: ReadonlyMap<string, ResourceName> = new Map(
  RESOURCE_NAMES.filter((resource) => traitsOf(resource).group === GROUP && traitsOf(resource).unimplemented === undefined).map(
    (resource) => [traitsOf(resource).kind, resource],
  ),
);
const NAME_IN_MESSAGE = new RegExp(`\\b(${[...NAMED.keys()].join('|')}) "?([a-z0-9](?:[-.a-z0-9]*[a-z0-9])?)`, 'g');

/** The command for the first existing object that a message names. */
function faultNamedIn(world: World, message: string): string | undefined {
  for (const [, kind = '', name = ''] of message.matchAll(NAME_IN_MESSAGE)) {
    const resource = NAMED.get(kind);
    if (resource !== undefined && world.tables[resource]?.peek(name) !== undefined)
      return commandText`kiln explain ${objectText(resource, name)}`;
  }
  return undefined;
}

/** @param named `<kind> <key>` */
function blockerText(named: string): readonly string[] {
  const [kind = '', key = ''] = named.split(' ');
  return withNamespace(kind.toLowerCase(), key);
}

/** The arguments for a command line. */
function objectText(resource: ResourceName, key: string): readonly string[] {
  return withNamespace(typedName(resource), key);
}

function withNamespace(type: string, key: string): readonly string[] {
  const { namespace, name } = splitKey(key);
  return [type, nameArgument(name), ...inNamespace(namespace)];
}
