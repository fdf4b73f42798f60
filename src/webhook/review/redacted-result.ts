/**
 * The answer for a client without a proven identity. Kiln judges the same request in a World without objects: a message that appears there
 * as well cannot reveal other objects, whichever rule wrote it, and is shown unchanged. Every other message is replaced by the general one
 * of its code.
 */
import { REASONS } from '../../api/reasons.ts';
import { DELETION_BLOCKED } from '../../compile/deletion.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { visibleMessage } from '../../text/visible-text.ts';
import type { Objection, Opinion } from '../protocol/admission-result.ts';
import { commandText } from '../../text/command-text.ts';

/** A name that a user may have typed. */
const NAME = /^[a-z0-9][-.a-z0-9]*$/;
const LONGEST_NAME = 253;

/** @param alone the result of the same request in a World without other objects */
export function withoutOthers(request: AdmissionRequest, opinion: Opinion, alone: Opinion): Opinion {
  const own = new Set([...alone.objections.map(({ message }) => message), ...alone.warnings]);
  const objections = new Map<string, Objection>();
  for (const one of opinion.objections) {
    const shown = own.has(one.message) ? one : { ...one, message: ofCode(request, one) };
    objections.set(`${shown.code} ${shown.field} ${shown.message}`, shown);
  }
  const warnings = opinion.warnings.filter((text) => own.has(text));
  // Of a deletion there is one warning: that the object waits.
  const waits = request.operation === 'DELETE' && warnings.length < opinion.warnings.length;
  return { objections: [...objections.values()], warnings: waits ? [inUse(request, 'is deleted later')] : warnings };
}

const WHY = 'names of other objects are left out, because the API server has not shown its client certificate to the webhook';

function calledIn({ name, object }: AdmissionRequest): string {
  return visibleMessage(name === '' ? (object?.metadata.name ?? object?.metadata.generateName ?? '') : name, LONGEST_NAME);
}

/** @param verdict what becomes of the deletion */
function inUse(request: AdmissionRequest, verdict: string): string {
  const kind = request.kind.toLowerCase();
  const called = calledIn(request);
  const command = NAME.test(called) && NAME.test(kind) ? `; ${commandText`kiln explain ${kind} ${called}`} shows what` : '';
  return `${visibleMessage(request.kind, LONGEST_NAME)} ${called} ${verdict}: other objects still use it${command} (${WHY})`;
}

function ofCode(request: AdmissionRequest, { code }: Objection): string {
  if (code === DELETION_BLOCKED) return inUse(request, 'cannot be deleted');
  const { kind, operation } = request;
  const { means } = REASONS[code];
  const subject = `${visibleMessage(kind, LONGEST_NAME)} ${calledIn(request)}`;
  return `${subject} cannot be ${operation === 'CREATE' ? 'created' : 'changed'} like this: ${means} (${WHY})`;
}
