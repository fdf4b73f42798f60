/** The conditions of an observed object: in its status, or as JSON in an annotation where its kind has none. */
import type { Condition } from '../api/kubernetes/meta.ts';
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
    // The annotation is not JSON: Kiln replaces it as a whole.
    return NONE;
  }
}

const TEXTS = ['status', 'reason', 'message', 'lastUpdateTime', 'lastTransitionTime'] as const;

/** The API server validates no annotation: a user with the right to edit the object may write anything there. */
function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return typeof fields['type'] === 'string' && TEXTS.every((field) => ['string', 'undefined'].includes(typeof fields[field]));
}

/** An API server writes no later time, but a user may. A deadline computed from a later one would have no RFC 3339 text. */
const LATEST = Date.parse('9999-12-31T23:59:59Z');

/** @returns milliseconds since the epoch; undefined where the text is no time */
export function parsedTime(text: string | undefined): number | undefined {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return time <= LATEST ? time : undefined;
}

export function conditionOf(resource: ResourceName, object: WithConditions, type: string): Condition | undefined {
  return conditionsOf(resource, object).find((condition) => condition.type === type);
}
