/**
 * What an object asks and Kiln does not carry out: said on the object, never passed over in silence.
 */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { NoticeOutput } from './output.ts';

export function unsupportedNotice(resource: ResourceName, key: string, uid: string, field: string): NoticeOutput {
  return {
    kind: 'notice',
    resource,
    key,
    uid,
    type: 'Warning',
    reason: 'UnsupportedField',
    message: unsupportedSentence(resource, key, field),
  };
}

export function unsupportedSentence(resource: ResourceName, key: string, field: string): string {
  const { kind } = traitsOf(resource);
  return `${kind} ${key}: ${field} is set, but this version does not carry it out; all else of the ${kind} is in effect`;
}
