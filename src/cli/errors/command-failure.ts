/**
 * A failed command: three lines on standard error (what failed, why, the next command) and an exit code for scripts.
 */
import type { KubeError, KubeErrorCode } from '../../kube/errors.ts';
import { isKubeError } from '../../kube/errors.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { commandText } from '../../text/command-text.ts';
import { visible } from '../../text/visible-text.ts';
import { KUBE_ADVICE } from './error-advice.ts';

/** `findings`: the command succeeded, and the answer is no. */
export const EXIT = { fine: 0, findings: 1, usage: 2, unreachable: 3, timeout: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exit: ExitCode;
  readonly why: string;
  readonly next: string;

  constructor(exit: ExitCode, what: string, why: string, next: string) {
    super(what);
    this.exit = exit;
    this.why = why;
    this.next = next;
  }
}

/** Converts any error into a failure. */
export function failureOf(error: unknown, command: string): CommandFailure {
  if (error instanceof CommandFailure) return error;
  const what = `kiln ${command} failed`;
  if (!isKubeError(error))
    return new CommandFailure(EXIT.findings, what, error instanceof Error ? error.message : String(error), `kiln ${command} --help`);
  const why = error.code === 'KUBE_INVALID' ? invalidText(error) : `${error.code}: ${error.message}`;
  return new CommandFailure(ANSWERS.has(error.code) ? EXIT.findings : EXIT.unreachable, what, why, adviceFor(error));
}

/** Kiln has the definitions of Kube-OVN's kinds alone. */
function adviceFor({ code, subject }: KubeError): string {
  const [, ...group] = subject.resource.split('.');
  return code === 'KUBE_NOT_SERVED' && group.join('.') !== 'kubeovn.io'
    ? `install the program whose kind it is; ${commandText`kubectl api-resources --api-group=${group.join('.')} lists what is served`}`
    : KUBE_ADVICE[code];
}

/** The broken rules in a sentence, each with its field; the server's own message repeats the object in front of each. */
function invalidText({ code, subject, causes, detail }: KubeError): string {
  const named = [subject.namespace, subject.name].filter((part) => part !== undefined && part !== '').join('/');
  const rules = causes.map(({ field = '', message = '' }) => [field, message].filter((part) => part !== '').join(': '));
  return `the API server finds ${subject.resource}${named === '' ? '' : ` ${named}`} invalid: ${rules.join('; ') || detail} (${code})`;
}

/** Failures that are an answer of the cluster rather than a problem with it. */
const ANSWERS: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_DENIED',
  'KUBE_INVALID',
  'KUBE_BAD_REQUEST',
  'KUBE_CONFLICT',
  'KUBE_ALREADY_EXISTS',
  'KUBE_NOT_FOUND',
  'KUBE_PRECONDITION',
]);

export function failureText({ message, why, next }: CommandFailure): string {
  return `${withoutSecrets(`error: ${visible(message)}\n  why: ${visible(why)}\n  next: ${visible(next)}`)}\n`;
}
