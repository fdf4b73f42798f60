/**
 * The socket at which a leading controller answers commands of its own user on the same host, or in the same pod: where it is, and what is
 * said over it. Both sides derive its path from the kubeconfig, so a command never asks the controller of another cluster.
 *
 * A command loads this before anything else: it imports little.
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../../runtime/cache-directory.ts';
import type { Line, Output } from '../output/terminal.ts';

/** One line of JSON. */
export interface Question {
  readonly version: string;
  readonly command: 'status' | 'explain';
  /** Its arguments without flags. */
  readonly words: readonly string[];
  /** `-n`. */
  readonly namespace?: string;
  /** `-o`. */
  readonly output?: string;
  /** `--all`. */
  readonly all: boolean;
  /** Whether the command's terminal shows colours. */
  readonly colors: boolean;
  /** `KILN_OVN_NB`: the command says where the rows were read. */
  readonly ovnNb: string;
}

/** What the command prints, and its exit code: one line of JSON, after the line `ACCEPTED`. */
export interface Answer {
  readonly out: readonly Output[];
  readonly say: readonly Line[];
  readonly exit: number;
}

export const ACCEPTED = 'accepted';
export const MOST_QUESTION_BYTES = 16 * 1_024;
export const MOST_ANSWER_BYTES = 4 * 1_024 * 1_024;

/** Where a cluster and its credentials come from, as flags say it. */
export interface Origin {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
}

/** Linux takes 107 bytes for the path of a socket. */
const LONGEST_PATH = 100;
/** Of another user's files in a common folder. */
const OTHERS = 0o077;

/**
 * Undefined where there can be none. An edit of the kubeconfig, `kubectl config use-context` among them, leads to another path.
 */
export function answerSocket(origin: Origin, env: Environment = process.env): string | undefined {
  const user = process.getuid?.();
  const cluster = clusterText(origin, env);
  if (user === undefined || cluster === undefined) return undefined;
  const name = createHash('sha256')
    .update(`${cluster}\0${origin.context ?? ''}`)
    .digest('hex')
    .slice(0, 24);
  const path = join(env['XDG_RUNTIME_DIR'] || tmpdir(), `kiln-${user}`, `${name}.sock`);
  return path.length > LONGEST_PATH ? undefined : path;
}

/** Whether no other user can have made the socket, or reach it: the folder is this user's alone. */
export function isPrivate(socket: string): boolean {
  const folder = lstatSync(dirname(socket), { throwIfNoEntry: false });
  return folder?.isDirectory() === true && folder.uid === process.getuid?.() && (folder.mode & OTHERS) === 0;
}

function clusterText({ kubeconfig, inCluster }: Origin, env: Environment): string | undefined {
  const named = inCluster === true ? undefined : (kubeconfig ?? (env['KUBECONFIG'] || join(homedir(), '.kube/config')));
  if (named !== undefined && (kubeconfig !== undefined || (env['KUBECONFIG'] ?? '') !== '' || existsSync(named))) {
    const path = resolve(named);
    try {
      return `${path}\0${readFileSync(path, 'utf8')}`;
    } catch {
      // It may be a list of files, too.
      return undefined;
    }
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '' } = env;
  return host === undefined ? undefined : `pod\0${host}\0${port}`;
}
