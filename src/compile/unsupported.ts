/**
 * What an object asks and Kiln does not carry out: said on the object, never passed over in silence.
 */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { NoticeOutput } from './output.ts';

export function unsupportedNotice(resource: ResourceName, key: string, uid: string, field: string): NoticeOutput {
  const { kind } = traitsOf(resource);
  const message = `${kind} ${key}: ${field} is set, but this version does not carry it out; all else of the ${kind} is in effect`;
  return { kind: 'notice', resource, key, uid, type: 'Warning', reason: 'UnsupportedField', message };
}
