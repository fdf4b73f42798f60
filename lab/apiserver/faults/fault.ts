/** A fault, and how it is parsed from a request. */
import type { Json, JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { FieldError } from '../status.ts';
import { invalid, invalidValue, notSupported, required } from '../status.ts';

export const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;
export type Verb = (typeof VERBS)[number];

export const WATCH_FAULTS = ['drop-event', 'repeat-event', 'garble-event', 'close-watch', 'expire-watch', 'stall-watch'] as const;
export type WatchFault = (typeof WATCH_FAULTS)[number];

export type RequestFault =
  | { readonly kind: 'delay'; readonly milliseconds: number }
  | {
      readonly kind: 'error';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' };

export type Fault = RequestFault | { readonly kind: WatchFault };

/** The requests that a fault applies to; an absent field matches all. */
export interface Match {
  readonly verbs?: readonly Verb[];
  /** `pods`, `subnets.kubeovn.io`, `pods/status`. */
  readonly resources?: readonly string[];
  readonly namespace?: string;
  readonly name?: string;
  /** A prefix of the client's User-Agent. */
  readonly userAgent?: string;
}

export interface FaultRule {
  readonly match?: Match;
  readonly fault: Fault;
  /** Strikes at every n-th match. Default 1. */
  readonly every?: number;
  /** The fault is removed after this many strikes. Default: never. */
  readonly times?: number;
}

const KINDS = ['delay', 'error', 'cut', ...WATCH_FAULTS];

/** @throws ApiError 422 that names the invalid field */
export function readFaultRule(body: JsonObject): FaultRule {
  const errors: FieldError[] = [];
  const fault = isObject(body['fault']) ? body['fault'] : {};
  const kind = fault['kind'];
  if (kind === undefined) errors.push(required('fault.kind', `one of ${KINDS.join(', ')}`));
  else if (typeof kind !== 'string' || !KINDS.includes(kind)) errors.push(notSupported('fault.kind', kind, KINDS));
  if (kind === 'delay') errors.push(...atLeast('fault.milliseconds', fault['milliseconds'], 0));
  if (kind === 'error') errors.push(...atLeast('fault.code', fault['code'], 400));
  if (kind === 'cut' && fault['when'] !== 'before' && fault['when'] !== 'after')
    errors.push(notSupported('fault.when', fault['when'], ['before', 'after']));
  for (const key of ['every', 'times']) if (body[key] !== undefined) errors.push(...atLeast(key, body[key], 1));
  errors.push(...matchErrors(body['match']));
  for (const key of Object.keys(body))
    if (!['match', 'fault', 'every', 'times'].includes(key)) errors.push(invalidValue(key, body[key], 'no such field'));
  if (errors.length > 0) throw invalid({ group: 'lab', kind: 'Fault' }, '', errors);
  return body as unknown as FaultRule;
}

function matchErrors(match: Json | undefined): FieldError[] {
  if (match === undefined) return [];
  if (!isObject(match)) return [invalidValue('match', match, 'must be an object')];
  return Object.entries(match).flatMap(([key, value]): FieldError[] => {
    const field = `match.${key}`;
    if (key === 'verbs' || key === 'resources') {
      if (!Array.isArray(value)) return [invalidValue(field, value, 'must be a list')];
      return key === 'resources'
        ? []
        : value.filter((verb) => !VERBS.includes(verb as Verb)).map((verb) => notSupported(field, verb, VERBS));
    }
    if (!['namespace', 'name', 'userAgent'].includes(key)) return [invalidValue(field, value, 'no such field')];
    return typeof value === 'string' ? [] : [invalidValue(field, value, 'must be a string')];
  });
}

/** The longest delay of a Node.js timer. */
const MOST = 2 ** 31 - 1;

function atLeast(field: string, value: Json | undefined, least: number): FieldError[] {
  if (value === undefined) return [required(field)];
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= MOST
    ? []
    : [invalidValue(field, value, `must be a whole number from ${least}${typeof value === 'number' && value > MOST ? ` to ${MOST}` : ''}`)];
}
