/** Where a journal is unless a flag or KILN_JOURNAL names another directory: the same for the controller and for the commands that read it. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Of a pod, and of root on a host. */
export const SYSTEM_JOURNAL = '/var/lib/kiln/journal';

/** Says the same in the help. */
export const JOURNAL_DEFAULT_TEXT = `${SYSTEM_JOURNAL} in a pod and for root, else ~/.local/state/kiln/journal`;

export interface JournalUser {
  /** Undefined where the system has no users. */
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

export function defaultJournal(user: JournalUser = { uid: process.getuid?.(), env: process.env, home: homedir() }): string {
  const { uid, env, home } = user;
  // The kubelet sets it in every container. The user of a pod has no home.
  const isPod = (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  if (uid === 0 || isPod) return SYSTEM_JOURNAL;
  const state = env['XDG_STATE_HOME'] ?? '';
  return join(isAbsolute(state) ? state : join(home, '.local/state'), 'kiln/journal');
}
