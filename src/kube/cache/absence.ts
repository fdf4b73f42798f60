/**
 * Confirms the absence of objects that a list lacks, and no event reported as deleted. The list may be wrong: it may come from a server
 * that lost its data, from a proxy, or from a database that is being restored. So the server is asked for each of them by name; if they are
 * many, for some of them, and a second full list has to lack the others too.
 */
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../errors.ts';
import { keyOf, type ObjectName, type Resource, resourceName } from '../resource.ts';

/**
 * Up to this number, all absent objects are asked for by name. Of more, so many are, spread evenly, and a second list decides on the
 * others.
 */
export const FEW_ABSENT = 32;
/** Milliseconds before the second list. */
export const SECOND_LIST_MS = 1_000;
/** The same if a list lacks all objects of a kind, or more than it has. */
export const SHRUNK_LIST_MS = 10_000;
/** Concurrent requests. */
const AT_ONCE = 8;

/** An object that existed before, and is missing in a list. */
export interface UnconfirmedObject extends ObjectName {
  /** If set, an object of the name with another uid confirms the absence; undefined: any object of the name contradicts it. */
  readonly uid?: string | undefined;
}

/** - `confirmed`: the server has none of these names. - `undecided`: it was not asked for all of them, or denies access. */
export type Absence = 'confirmed' | 'undecided';

/**
 * Asks the server for the objects by name.
 * @throws KubeError KUBE_LIST_DOUBTED if it has one of them; any other error of a request
 */
export async function confirmAbsent(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  unconfirmed: readonly UnconfirmedObject[],
  signal?: AbortSignal,
): Promise<Absence> {
  const asked = spread(unconfirmed, FEW_ABSENT);
  let absence: Absence = asked.length === unconfirmed.length ? 'confirmed' : 'undecided';
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    const answers = await Promise.all(asked.slice(at, at + AT_ONCE).map((suspect) => answerTo(client, resource, suspect, signal)));
    if (answers.includes('forbidden')) absence = 'undecided';
    const there = asked[at + answers.indexOf('there')];
    if (answers.includes('there') && there !== undefined)
      throw listDoubted(resource, unconfirmed.length, `the server has ${keyOf(there)} by name`);
  }
  return absence;
}

/**
 * Milliseconds to wait before the second list; undefined: the answers by name are enough.
 * @param had number of objects of the kind before
 * @param shrunkListMs the delay for a kind that lost all or most of its objects
 */
export function secondListAfter(absent: number, had: number, absence: Absence, shrunkListMs: number): number | undefined {
  const most = absent > 1 && (absent >= had || (absent > FEW_ABSENT && absent > had / 2));
  if (most) return shrunkListMs;
  return absence === 'undecided' ? Math.min(SECOND_LIST_MS, shrunkListMs) : undefined;
}

export function listDoubted(resource: Resource, absent: number, why: string): KubeError {
  const subject = { verb: 'list', resource: resourceName(resource) };
  return new KubeError(
    'KUBE_LIST_DOUBTED',
    subject,
    `the list lacks ${absent} object${absent === 1 ? '' : 's'} that were there, and ${why}`,
  );
}

async function answerTo(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  suspect: UnconfirmedObject,
  signal: AbortSignal | undefined,
): Promise<'gone' | 'there' | 'forbidden'> {
  try {
    const { metadata } = await client.get(resource, suspect, signal);
    return suspect.uid === undefined || metadata.uid === suspect.uid ? 'there' : 'gone';
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return 'gone';
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return 'forbidden';
    throw error;
  }
}

function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]!);
}
