/** Fields that Kiln does not implement: reported on the object, never ignored silently. */
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import { findingsText } from './findings-text.ts';
import type { ReportOutput, Output } from './output.ts';

/** Type of the condition. */
export const UNIMPLEMENTED = 'NotCarriedOut';

/**
 * An Event for each field, and a condition as long as one is set: the API server drops an Event after an hour.
 * @param isAccepted whether the rest of the object is in effect
 */
export function unimplementedFieldOutputs(
  resource: ResourceName,
  key: string,
  uid: string,
  fields: readonly string[],
  isAccepted: () => boolean = () => true,
): readonly Output[] {
  const patch = { kind: 'patch', resource, key, uid } as const;
  const reports = fields.map((field) => unimplementedFieldReport(resource, key, uid, field));
  if (reports.length === 0) return [{ ...patch, withoutConditions: [UNIMPLEMENTED] }];
  const rest = isAccepted()
    ? `All else of the ${traitsOf(resource).kind} is in effect`
    : 'All else waits: condition Accepted says for what';
  const message = `${findingsText(reports)}. ${rest}`;
  return [...reports, { ...patch, conditions: [{ type: UNIMPLEMENTED, status: 'True', reason: 'UnsupportedField', message }] }];
}

function unimplementedFieldReport(resource: ResourceName, key: string, uid: string, field: string): ReportOutput {
  return {
    kind: 'report',
    resource,
    key,
    uid,
    type: 'Warning',
    reason: 'UnsupportedField',
    message: unimplementedFieldSentence(resource, key, field),
  };
}

export function unimplementedFieldSentence(resource: ResourceName, key: string, field: string): string {
  const { kind } = traitsOf(resource);
  return `${kind} ${key}: ${field} is set, but this version does not implement it`;
}
