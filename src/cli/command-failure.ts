/**
 * How a command fails: three lines on standard error (what failed, why, what to do next) and an exit code that scripts can read.
 */
import { isKubeError } from '../kube/errors.ts';

/** `findings`: the command was carried out, and the answer is no. */
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

/** The failure that stands for any error a command ends with. */
export function failureOf(error: unknown, command: string): CommandFailure {
  if (error instanceof CommandFailure) return error;
  const what = `kiln ${command} failed`;
  if (!isKubeError(error))
    return new CommandFailure(EXIT.findings, what, error instanceof Error ? error.message : String(error), `kiln ${command} --help`);
  const why = `${error.code}: ${error.message}`;
  switch (error.code) {
    case 'KUBE_FORBIDDEN':
    case 'KUBE_UNAUTHORIZED':
      return new CommandFailure(EXIT.unreachable, what, why, 'kubectl auth can-i --list');
    case 'KUBE_CONFIG':
      return new CommandFailure(EXIT.unreachable, what, why, 'name another file with --kubeconfig, or another --context');
    case 'KUBE_NOT_SERVED':
      return new CommandFailure(EXIT.unreachable, what, why, 'kubectl apply -f deploy/crds.yaml');
    case 'KUBE_INVALID':
    case 'KUBE_BAD_REQUEST':
    case 'KUBE_CONFLICT':
    case 'KUBE_ALREADY_EXISTS':
    case 'KUBE_NOT_FOUND':
    case 'KUBE_PRECONDITION':
      return new CommandFailure(EXIT.findings, what, why, 'run the command again');
    default:
      return new CommandFailure(EXIT.unreachable, what, why, 'kubectl cluster-info');
  }
}

export function failureText({ message, why, next }: CommandFailure): string {
  return `error: ${message}\n  why: ${why}\n  next: ${next}\n`;
}
