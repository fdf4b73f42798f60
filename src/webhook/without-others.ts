/**
 * What a client without a proven identity is told. A sentence is shown as it is only where the same request makes it in a world without any
 * object: then nothing of others can be in it, whoever wrote the rule. In the place of every other sentence comes that of its code.
 */
import { REASONS } from '../api/reasons.ts';
import { DELETION_BLOCKED } from '../compile/deletion.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { visibleMessage } from '../text/visible-text.ts';
import type { Objection, Opinion } from './opinion.ts';
import { commandText } from '../text/command-text.ts';

/** As a user may type it. */
const NAME = /^[a-z0-9][-.a-z0-9]*$/;
const LONGEST_NAME = 253;

/** @param alone what is thought of the same request where there is no other object */
export function withoutOthers(request: AdmissionRequest, opinion: Opinion, alone: Opinion): Opinion {
  const own = new Set([...alone.objections.map(({ message }) => message), ...alone.warnings]);
  const objections = new Map<string, Objection>();
  for (const one of opinion.objections) {
    const shown = own.has(one.message) ? one : { ...one, message: ofCode(request, one) };
    objections.set(`${shown.code} ${shown.field} ${shown.message}`, shown);
  }
  return { objections: [...objections.values()], warnings: opinion.warnings.filter((text) => own.has(text)) };
}

const WHY = 'names of other objects are left out, because the API server has not shown its client certificate to the webhook';

function ofCode({ kind, name, object, operation }: AdmissionRequest, { code }: Objection): string {
  const called = visibleMessage(name === '' ? (object?.metadata.name ?? object?.metadata.generateName ?? '') : name, LONGEST_NAME);
  const subject = `${visibleMessage(kind, LONGEST_NAME)} ${called}`;
  if (code === DELETION_BLOCKED) {
    const command =
      NAME.test(called) && NAME.test(kind.toLowerCase()) ? `; ${commandText`kiln explain ${kind.toLowerCase()} ${called}`} shows what` : '';
    return `${subject} cannot be deleted: other objects still use it${command} (${WHY})`;
  }
  const { means } = REASONS[code];
  return `${subject} cannot be ${operation === 'CREATE' ? 'created' : 'changed'} like this: ${means} (${WHY})`;
}
