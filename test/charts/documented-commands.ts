/** The commands of a page of `docs`, run as they stand there. */
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { findHelm } from '../../lab/programs/helm.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { runProgram, SHORT_GO_PROGRAM } from '../../lab/programs/run-program.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { UNTHROTTLED } from './helm.ts';

const ROOT = join(import.meta.dirname, '../..');

/** By heading of the section: the lines of its blocks of commands. */
export async function commandsOf(page: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const sections = (await readFile(join(ROOT, page), 'utf8')).split(/^## /m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const [heading = ''] = section.split('\n', 1);
      const lines = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.trimEnd().split('\n'));
      return lines.length === 0 ? [] : [[heading, lines] as const];
    }),
  );
}

/** A folder as a clone, with the programs that a reader has. */
export class Reader {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string | undefined>>;

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    const home = { HELM_CACHE_HOME: join(folder, 'cache'), HELM_CONFIG_HOME: join(folder, 'config'), HELM_DATA_HOME: join(folder, 'data') };
    const PATH = `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`;
    this.#env = { ...testEnvironment(), ...SHORT_GO_PROGRAM, ...UNTHROTTLED, ...home, ...env, PATH };
  }

  static async at(folder: string, env: Readonly<Record<string, string>>): Promise<Reader> {
    await mkdir(join(folder, 'bin'), { recursive: true });
    await cp(join(ROOT, 'charts'), join(folder, 'charts'), { recursive: true });
    // Half of the objects, in a test that runs many commands.
    const values = join(folder, 'charts/kiln/values.yaml');
    await writeFile(values, (await readFile(values, 'utf8')).replace('  policies: auto\n', '  policies: false\n'));
    for (const [name, path] of [
      ['helm', findHelm()],
      ['kubectl', findKubernetesProgram('kubectl')],
    ] as const)
      await symlink(path ?? name, join(folder, 'bin', name));
    const kiln = join(folder, 'bin/kiln');
    await writeFile(kiln, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src/cli/main.ts')}" "$@"\n`);
    await chmod(kiln, 0o755);
    return new Reader(folder, env);
  }

  /** @throws ProgramError if it fails */
  async types(line: string): Promise<string> {
    return await runProgram(['bash', '-c', `cd "$0" && ${line}`, this.#folder], { env: this.#env });
  }
}
