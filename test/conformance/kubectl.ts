/** Runs the real kubectl. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHORT_GO_PROGRAM } from '../../lab/programs/run-program.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import { until } from '../../src/testing/until.ts';

/** The age that kubectl prints for an object that is at most some minutes old. */
export const AGE = String.raw`(?:\d+m)?\d+s|\d+m`;

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class Kubectl {
  readonly #environment: NodeJS.ProcessEnv;

  constructor(kubeconfigPath: string, cacheDir: string) {
    this.#environment = { ...process.env, ...SHORT_GO_PROGRAM, KUBECONFIG: kubeconfigPath, KUBECACHEDIR: cacheDir };
  }

  /** Runs kubectl to its end, whatever the exit code; `input` is its standard input. */
  async run(args: readonly string[], input?: string, environment: NodeJS.ProcessEnv = {}): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const child = execFile(
        'kubectl',
        args,
        { env: { ...this.#environment, ...environment }, timeout: 2 * PATIENCE_MS, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
        },
      );
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input ?? '');
    });
  }

  /** Returns standard output. @throws Error if kubectl fails. */
  async ok(args: readonly string[], input?: string): Promise<string> {
    const result = await this.run(args, input);
    if (result.code !== 0) throw new Error(`kubectl ${args.join(' ')} failed with ${result.code}:\n${result.stderr}${result.stdout}`);
    return result.stdout;
  }

  /** Returns standard error. @throws Error if kubectl succeeds. */
  async fails(args: readonly string[], input?: string): Promise<string> {
    const result = await this.run(args, input);
    if (result.code === 0) throw new Error(`kubectl ${args.join(' ')} was expected to fail, and printed:\n${result.stdout}`);
    return result.stderr.trim();
  }

  /**
   * Runs a `kubectl wait` that must time out, first with one second. A stalled server may not have sent the object by then: in that case it
   * is run again with a longer timeout. What kubectl logs of its watch, which its own timeout ends, is no such sign.
   */
  async waitUntilTimeout(args: readonly string[]): Promise<KubectlResult> {
    for (let seconds = 1; ; seconds *= 4) {
      const result = await this.run(args.map((arg) => arg.replace(/^--timeout=1s$/, `--timeout=${seconds}s`)));
      const printed = result.stderr.replaceAll(/^[IWE]\d{4} .*\n/gm, '');
      if (!/unable to sync caches|context deadline exceeded/.test(printed) || seconds * 1000 > PATIENCE_MS) return result;
    }
  }

  /** Waits until every definition is established. kubectl fails while one has no conditions yet. */
  async established(...names: readonly string[]): Promise<void> {
    const which = names.length === 0 ? ['--all'] : names;
    const args = ['wait', '--for=condition=Established', 'crd', ...which, '--timeout=120s'];
    await until('the definitions are established', async () => (await this.run(args)).code === 0);
  }

  /** Runs `kubectl edit` with an editor that applies one sed expression. */
  async edit(args: readonly string[], expression: string): Promise<KubectlResult> {
    const directory = await mkdtemp(join(tmpdir(), 'kiln-edit-'));
    const editor = join(directory, 'editor.sh');
    await writeFile(editor, `#!/bin/sh\nexec sed -i -e '${expression}' "$1"\n`, { mode: 0o755 });
    try {
      // kubectl leaves a copy of a change that it could not apply in the temporary folder.
      return await this.run(['edit', ...args], undefined, { EDITOR: editor, KUBE_EDITOR: editor, TMPDIR: directory });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Starts a command that does not end by itself, such as `get -w`, and collects its lines. */
  start(args: readonly string[]): { readonly lines: string[]; readonly stop: () => Promise<void> } {
    const child = spawn('kubectl', args, { env: this.#environment, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    let rest = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString('utf8')).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
    return {
      lines,
      stop: async () => {
        child.kill('SIGTERM');
        await ended;
      },
    };
  }
}
