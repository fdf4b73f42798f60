/**
 * Whether objects that a list lacks are gone. A list is one answer among several: it may come from a server that lost its data, from a proxy, from a
 * database that is being put back. Their deletion was not seen, so it is asked for each of them by name; where they are many, for some of
 * them, and a second full list has to agree as well.
 */
import type { KubeClient } from './client.ts';
import { isKubeError, KubeError } from './errors.ts';
import { keyOf, type ObjectName, type Resource, resourceName } from './resource.ts';

/** Absent objects that are all asked for by name; of more than that as many, spread over them, and a second list tells of the others. */
export const FEW_ABSENT = 32;
/** After which the second list is asked for. */
export const SECOND_LIST_MS = 1_000;
/** Likewise where all objects of a kind are gone at once, or more of them than are left. */
export const DOUBT_MS = 10_000;
/** Requests under way at a time. */
const AT_ONCE = 8;

/** An object that was there. */
export interface Suspect extends ObjectName {
  /** Another object under the name is no contradiction; undefined where any is one. */
  readonly uid?: string | undefined;
}

/** - `proven`: the server knows none of these names. - `undecided`: it was not asked for all, or may not be. */
export type Absence = 'proven' | 'undecided';

/**
 * Asks the server for the objects by name.
 * @throws KubeError KUBE_LIST_DOUBTED where it has one of them; whatever else a request fails with
 */
export async function proveAbsent(
  client: Pick<KubeClient, 'get'>,
  resource: Resource,
  suspects: readonly Suspect[],
  signal?: AbortSignal,
): Promise<Absence> {
  const asked = spread(suspects, FEW_ABSENT);
  let absence: Absence = asked.length === suspects.length ? 'proven' : 'undecided';
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    const answers = await Promise.all(asked.slice(at, at + AT_ONCE).map((suspect) => answerTo(client, resource, suspect, signal)));
    if (answers.includes('refused')) absence = 'undecided';
    const there = asked[at + answers.indexOf('there')];
    if (answers.includes('there') && there !== undefined)
      throw listDoubted(resource, suspects.length, `the server has ${keyOf(there)} by name`);
  }
  return absence;
}

/**
 * How long a list that lacks them is doubted before the second one, in milliseconds; undefined where the answers to their names are enough.
 * @param had objects of the kind that were there
 * @param doubtMs for a kind that lost everything, or most of what it had
 */
export function secondListAfter(absent: number, had: number, absence: Absence, doubtMs: number): number | undefined {
  const most = absent > 1 && (absent >= had || (absent > FEW_ABSENT && absent > had / 2));
  if (most) return doubtMs;
  return absence === 'undecided' ? Math.min(SECOND_LIST_MS, doubtMs) : undefined;
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
  suspect: Suspect,
  signal: AbortSignal | undefined,
): Promise<'gone' | 'there' | 'refused'> {
  try {
    const { metadata } = await client.get(resource, suspect, signal);
    return suspect.uid === undefined || metadata.uid === suspect.uid ? 'there' : 'gone';
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return 'gone';
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return 'refused';
    throw error;
  }
}

function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, at) => all[Math.floor((at * all.length) / most)]!);
}
