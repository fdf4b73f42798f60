/**
 * A real shell in an empty folder. Its PATH has only programs that record their arguments, so any other effect of a pasted text shows as a
 * call of another program, a file, or an error.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const OFFERED = ['kubectl', 'kiln', 'ovn-nbctl'];
/** Programs that the attacks of `hostile-text.ts` would run. */
const OTHERS = ['touch', 'rm', 'curl', 'sh', 'owned'];

export class ShellWithStubs implements AsyncDisposable {
  readonly #folder: string;
  readonly #shell: string;

  private constructor(folder: string, shell: string) {
    this.#folder = folder;
    this.#shell = shell;
  }

  static async open(shell = '/bin/bash'): Promise<ShellWithStubs> {
    const folder = await mkdtemp(join(tmpdir(), 'kiln-shell-'));
    for (const part of ['bin', 'home']) await mkdir(join(folder, part));
    const stub = `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" >> "$CALLS"\nprintf '\\0\\0' >> "$CALLS"\n`;
    for (const name of [...OFFERED, ...OTHERS]) await writeFile(join(folder, 'bin', name), stub, { mode: 0o755 });
    return new ShellWithStubs(folder, shell);
  }

  /** Pastes the texts, a line each. @returns the calls of programs, in order @throws if the shell reports an error */
  async run(texts: readonly string[]): Promise<readonly (readonly string[])[]> {
    const calls = join(this.#folder, 'calls');
    await writeFile(calls, '');
    const env = { PATH: join(this.#folder, 'bin'), HOME: join(this.#folder, 'home'), CALLS: calls, LC_ALL: 'C.UTF-8' };
    const { stderr } = await promisify(execFile)(this.#shell, ['-c', texts.join('\n')], { env, cwd: join(this.#folder, 'home') });
    assert.equal(stderr, '', texts.join('\n'));
    const ran = (await readFile(calls, 'utf8'))
      .split('\0\0\0')
      .slice(0, -1)
      .map((call) => call.split('\0'));
    assert.deepEqual(
      ran.filter(([program = '']) => !OFFERED.includes(program)),
      [],
      texts.join('\n'),
    );
    assert.equal(ran.length, texts.length, texts.join('\n'));
    return ran;
  }

  /** Files that were created. */
  others(): Promise<readonly string[]> {
    return readdir(join(this.#folder, 'home'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
