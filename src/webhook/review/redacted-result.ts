/**
 * The answer for a client without a proven identity. Kiln validates the same request in a World without objects: a message that appears
 * there as well cannot reveal other objects, whichever rule wrote it, and is shown unchanged. Every other message is replaced by the
 * general one of its code.
 */
import { REASONS } from '../../api/reasons.ts';
import { DELETION_BLOCKED } from '../../compile/deletion.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { visibleMessage } from '../../text/visible-text.ts';
import type { Denial, AdmissionResult } from '../protocol/admission-result.ts';
import { commandText } from '../../text/command-text.ts';

/** A name that a user may have typed. */
const NAME = /^[a-z0-9][-.a-z0-9]*$/;
const LONGEST_NAME = 253;

/** @param alone the result of the same request in a World without other objects */
export function redactedResult(request: AdmissionRequest, result: AdmissionResult, alone: AdmissionResult): AdmissionResult {
  const own = new Set([...alone.denials.map(({ message }) => message), ...alone.warnings]);
  const denials = new Map<string, Denial>();
  for (const one of result.denials) {
    const shown = own.has(one.message) ? one : { ...one, message: generalMessage(request, one) };
    denials.set(`${shown.code} ${shown.field} ${shown.message}`, shown);
  }
  const warnings = result.warnings.filter((text) => own.has(text));
  // Of a deletion there is one warning: that the object waits.
  const waits = request.operation === 'DELETE' && warnings.length < result.warnings.length;
  return { denials: [...denials.values()], warnings: waits ? [inUse(request, 'is deleted later')] : warnings };
}

const WHY = 'names of other objects are left out, because the API server has not shown its client certificate to the webhook';

function nameOf({ name, object }: AdmissionRequest): string {
  return visibleMessage(name === '' ? (object?.metadata.name ?? object?.metadata.generateName ?? '') : name, LONGEST_NAME);
}

/** @param outcome of the deletion */
function inUse(request: AdmissionRequest, outcome: string): string {
  const kind = request.kind.toLowerCase();
  const named = nameOf(request);
  const command = NAME.test(named) && NAME.test(kind) ? `; ${commandText`kiln explain ${kind} ${named}`} shows what` : '';
  return `${visibleMessage(request.kind, LONGEST_NAME)} ${named} ${outcome}: other objects still use it${command} (${WHY})`;
}

function generalMessage(request: AdmissionRequest, { code }: Denial): string {
  if (code === DELETION_BLOCKED) return inUse(request, 'cannot be deleted');
  const { kind, operation } = request;
  const { means } = REASONS[code];
  const subject = `${visibleMessage(kind, LONGEST_NAME)} ${nameOf(request)}`;
  return `${subject} cannot be ${operation === 'CREATE' ? 'created' : 'changed'} like this: ${means} (${WHY})`;
}
