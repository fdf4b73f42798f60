/**
 * Objects that Kiln makes from what it observes (their cause): the Subnet of another program's switch, the OvnEip of a router's port. Another
 * program may take the cause away for a moment, and a new object would not have what users had set on the former one. So the deletion waits,
 * and is withdrawn when the cause is back; what a user has set, and what uses it, keeps the object without a cause. The wait begins with a
 * condition, so a restart changes nothing.
 */
import { annotationKeys } from '../api/annotations.ts';
import type { ConditionType } from '../api/condition-types.ts';
import type { Labels } from '../api/kubernetes/meta.ts';
import { blockersOf } from '../blockers/blockers.ts';
import { commandText } from '../text/command-text.ts';
import { conditionOf, parsedTime } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import { OWN_KEYS } from '../world/trim.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { DeleteOutput, PatchOutput } from './output.ts';

const CAUSE_GONE = 'CauseGone' satisfies ConditionType;
/** The most settings that the condition names. */
const NAMED = 10;

export interface MadeObject {
  readonly resource: ResourceName;
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels?: Labels; readonly annotations?: Labels };
}

/** The cause is there. */
export function causeThere({ resource, metadata }: MadeObject): PatchOutput {
  return { kind: 'patch', resource, key: metadata.name, uid: metadata.uid, withoutConditions: [CAUSE_GONE] };
}

export interface GoneCause {
  /** Continues the sentence "… is gone". */
  readonly text: string;
  /** A user ended it: nothing is waited for. */
  readonly ended?: true;
}

/** @param fields of the spec that a user has set */
export function causeGone(world: World, made: MadeObject, cause: GoneCause, fields: readonly string[] = []): PatchOutput | DeleteOutput {
  const { resource, metadata } = made;
  const { name: key, uid } = metadata;
  const { kind, plural, group } = traitsOf(resource);
  const subject = `${kind} ${key}: ${cause.text} is gone`;
  const told = (reason: 'CauseGone' | 'KeptWithoutCause', message: string): PatchOutput => ({
    ...{ kind: 'patch', resource, key, uid },
    conditions: [{ type: CAUSE_GONE, status: 'True', reason, message, event: 'Warning', eventOnce: true, timed: true }],
  });
  const users = blockersOf(world, resource, key).names;
  const set = [...fields, ...setByUsers(kind, metadata)];
  if (users.length > 0) return told('KeptWithoutCause', `${subject}; it stays while it is in use: ${users.join(', ')}`);
  const type = `${plural}.${group}`;
  const deletion = commandText`kubectl delete ${type} ${key}`;
  if (set.length > 0)
    return told('KeptWithoutCause', `${subject}; it stays for what is set on it: ${set.slice(0, NAMED).join(', ')}; ${deletion}`);
  const absenceGrace = cause.ended === true ? 0 : world.settings.absenceGrace;
  const begun = world.ask(goneSince, `${resource}/${key}`);
  if (absenceGrace > 0) {
    if (begun === undefined)
      return told('CauseGone', `${subject}; it is deleted unless that is back within ${absenceGrace} s; ${deletion}`);
    const end = begun + absenceGrace * 1_000;
    const endText = new Date(end).toISOString().replace(/\.\d+Z$/, 'Z');
    if (!world.deadlines.passed(end)) return told('CauseGone', `${subject}; it is deleted at ${endText} unless that is back; ${deletion}`);
  }
  return { kind: 'delete', resource, key, uid, event: { type: 'Normal', reason: CAUSE_GONE, message: `${subject}, and it is deleted` } };
}

/** When the condition began, in milliseconds since the epoch. */
const goneSince: Query<number | undefined> = defineQuery('cause-gone-since', (world, id) => {
  const at = id.indexOf('/');
  const resource = id.slice(0, at) as ResourceName;
  const object = world.tables[resource]?.get(id.slice(at + 1));
  const held = object === undefined ? undefined : conditionOf(resource, object, CAUSE_GONE);
  return held?.status === 'True' ? parsedTime(held.lastTransitionTime) : undefined;
});

/** Annotations and labels that are a user's: of those of Kube-OVN's and Kiln's groups, the ones that programs only read. */
function setByUsers(kind: string, { annotations = {}, labels = {} }: MadeObject['metadata']): readonly string[] {
  const read = annotationKeys([kind], (use) => !use.includes('writes') && use !== '-');
  return [
    ...Object.keys(annotations)
      .filter((key) => (OWN_KEYS.test(key) ? read.includes(key) : true))
      .map((key) => `annotation ${key}`),
    ...Object.keys(labels)
      .filter((key) => !OWN_KEYS.test(key))
      .map((key) => `label ${key}`),
  ].toSorted();
}

/** The fields of a spec with a value that is none of Kiln's own. */
export function fieldsSet(spec: object, own: readonly string[]): readonly string[] {
  return Object.entries(spec).flatMap(([field, value]) => (own.includes(field) || isEmpty(value) ? [] : [`spec.${field}`]));
}

/** Also what the API server fills in: a field, or an object of fields, that means the same as none. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
