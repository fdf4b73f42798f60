/** Messages about a blocked deletion: the blockers, and the next command. */
import { isNeededByCluster, builtInOf } from '../world/built-in.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { Settings } from '../world/settings.ts';
import type { Blockers } from './blockers.ts';
import { commandText } from '../text/command-text.ts';

/** For an object that is being deleted. */
export function blockedSentence(settings: Settings, resource: ResourceName, key: string, blockers: Blockers): string {
  const { plural } = traitsOf(resource);
  return `${blockersSentence(resource, key, blockers)}. ${editsText(blockers)}${whenDeleted(settings, resource, key, blockers)}; ${commandText`kubectl get ${plural} ${key} shows the state`}`;
}

function whenDeleted(settings: Settings, resource: ResourceName, key: string, { count }: Blockers): string {
  const builtIn = builtInOf(settings, resource, key);
  const they = count === 1 ? 'that' : 'they';
  if (isNeededByCluster(builtIn))
    return (
      `The cluster needs it: it stays in effect and accepts new dependents; nothing needs to be done. ` +
      `It is deleted when ${they} and the last node are gone, and Kiln creates it again`
    );
  const deleted = `It is deleted when ${they} ${count === 1 ? 'is' : 'are'} gone`;
  return builtIn === undefined
    ? deleted
    : `${deleted}, and Kiln creates it again at once; a pod that needs a new address in it waits until then`;
}

/** Names in a warning: the API server truncates longer ones. */
const WARNED = 3;

/** For a deletion that the webhook accepts: the object waits. The command stands before the names, which may be truncated. */
export function waitingDeletionSentence(resource: ResourceName, key: string, { count, names }: Blockers): string {
  const { kind } = traitsOf(resource);
  const users = count === 1 ? 'the object that uses it is' : `the ${count} objects that use it are`;
  const shown = names.slice(0, WARNED).join(', ');
  const more = count > WARNED ? ` and ${count - WARNED} more` : '';
  const look = commandText`kiln explain ${kind.toLowerCase()} ${key}`;
  return `${kind} ${key} is in use: it stays in effect, accepts no new dependents, and is deleted when ${users} gone (${look}): ${shown}${more}`;
}

/** For a deletion that the webhook denies. */
export function deniedDeletionSentence(settings: Settings, resource: ResourceName, key: string, blockers: Blockers): string {
  const { kind } = traitsOf(resource);
  const used = blockersSentence(resource, key, blockers);
  const again = recreationSentence(settings, resource, key);
  if (again !== undefined) return `${used}. ${again}`;
  if (blockers.edits.length > 0) return `${used}. ${editsText(blockers)}Then, without its other users, ${kind} ${key} can be deleted`;
  const first = `Delete ${blockers.count === 1 ? 'that' : 'them'} first, then ${kind} ${key}`;
  return `${used}. ${first}; or all at once, dependents first: ${commandText`kiln delete ${kind.toLowerCase()} ${key} --cascade`}`;
}

/** Undefined for an object that only users create. */
export function recreationSentence(settings: Settings, resource: ResourceName, key: string): string | undefined {
  const { kind } = traitsOf(resource);
  return builtInOf(settings, resource, key) === undefined ? undefined : `${kind} ${key} is built in: Kiln would create it again at once`;
}

/** The edits that free an object of some of its blockers. */
function editsText({ edits }: Blockers): string {
  return edits.map(({ sentence, command }) => `${sentence}: ${command}. `).join('');
}

function blockersSentence(resource: ResourceName, key: string, { count, names }: Blockers): string {
  const { kind } = traitsOf(resource);
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  const things = count === 1 ? 'one object still uses it' : `${count} objects still use it`;
  return `${kind} ${key} cannot be deleted: ${things}: ${names.join(', ')}${more}`;
}
