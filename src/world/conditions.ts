/**
 * The conditions of an observed object, wherever its kind keeps them.
 */
import type { Condition } from '../api/meta.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import type { ResourceName } from './resources.ts';
import { traitsOf } from './resources.ts';

interface WithConditions {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: unknown;
}

const NONE: readonly Condition[] = [];

export function conditionsOf(resource: ResourceName, object: WithConditions): readonly Condition[] {
  if (traitsOf(resource).conditions !== 'annotation') {
    const status = object.status as { readonly conditions?: readonly Condition[] | null } | undefined;
    return status?.conditions ?? NONE;
  }
  const text = object.metadata.annotations?.[kilnAnnotation.conditions];
  if (text === undefined) return NONE;
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.filter(isCondition) : NONE;
  } catch {
    // Somebody wrote nonsense into the annotation: it is replaced as a whole.
    return NONE;
  }
}

const TEXTS = ['status', 'reason', 'message', 'lastUpdateTime', 'lastTransitionTime'] as const;

/** No schema stands before an annotation: whoever may edit the object may write anything there. */
function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return typeof fields['type'] === 'string' && TEXTS.every((field) => ['string', 'undefined'].includes(typeof fields[field]));
}

/** No API server writes a later one; somebody may who edits a condition, and what is reckoned from it could not be written down. */
const LATEST = Date.parse('9999-12-31T23:59:59Z');

/** @returns milliseconds since the epoch; undefined where the text is no time */
export function momentOf(text: string | undefined): number | undefined {
  const moment = text === undefined ? Number.NaN : Date.parse(text);
  return moment <= LATEST ? moment : undefined;
}

export function conditionOf(resource: ResourceName, object: WithConditions, type: string): Condition | undefined {
  return conditionsOf(resource, object).find((condition) => condition.type === type);
}
