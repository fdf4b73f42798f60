/** Runs the real Helm, with folders of its own. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findHelm } from '../../lab/programs/helm.ts';
import { ProgramError, runProgram, SHORT_GO_PROGRAM } from '../../lab/programs/run-program.ts';
import { testEnvironment } from '../../src/testing/environment.ts';

export const CHARTS = join(import.meta.dirname, '../../charts');
export const KILN_CHART = join(CHARTS, 'kiln');

/** Why no test can run Helm here; false if they can. */
export const withoutHelm: string | false = findHelm() === undefined ? 'helm was not found: run `node scripts/setup.mjs test`' : false;

/** By default it sends five requests a second after the first hundred: a cluster of one test need not be spared. */
export const UNTHROTTLED = { HELM_QPS: '1000', HELM_BURST_LIMIT: '2000' } as const;

/** An object as Helm renders it. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export class Helm {
  readonly #env: Readonly<Record<string, string | undefined>>;

  /** @param folder for its caches @param kubeconfig of the cluster; without one only commands that need none */
  constructor(folder: string, kubeconfig?: string) {
    this.#env = {
      ...testEnvironment(),
      ...SHORT_GO_PROGRAM,
      ...UNTHROTTLED,
      HELM_CACHE_HOME: join(folder, 'helm-cache'),
      HELM_CONFIG_HOME: join(folder, 'helm-config'),
      HELM_DATA_HOME: join(folder, 'helm-data'),
      KUBECONFIG: kubeconfig ?? join(folder, 'no-kubeconfig'),
    };
  }

  /** @returns what it prints @throws ProgramError */
  async run(...args: readonly string[]): Promise<string> {
    return await runProgram([findHelm() ?? 'helm', ...args], { env: this.#env });
  }

  /** @returns its error output @throws if it succeeds */
  async fails(...args: readonly string[]): Promise<string> {
    try {
      const printed = await this.run(...args);
      throw new Error(`helm ${args.join(' ')} was expected to fail, and printed: ${printed.slice(0, 2000)}`);
    } catch (error) {
      if (error instanceof ProgramError) return error.stderr;
      throw error;
    }
  }

  /** The objects of `helm template`. */
  async template(...args: readonly string[]): Promise<readonly Rendered[]> {
    return objectsOf(await this.run('template', 'kiln', KILN_CHART, ...args));
  }

  /** @returns the archive */
  async package(chart: string, into: string): Promise<string> {
    await mkdir(into, { recursive: true });
    const printed = await this.run('package', chart, '--destination', into);
    return /saved it to: (\S+)/.exec(printed)?.[1] ?? '';
  }
}

export function objectsOf(yaml: string): readonly Rendered[] {
  return parseAllDocuments(yaml).flatMap((document) => (document.contents === null ? [] : [document.toJS() as Rendered]));
}
