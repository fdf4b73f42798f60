import { join } from 'node:path';
import { run } from 'node:test';
import { casesOf } from '../../test/scenarios/failure-cases.ts';
import type { Outcome, Server } from './page.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Runs the scenarios that have a case's number on one server, in a process of their own, and reports each result as it comes.
 * @param wanted a pattern of names; all when absent
 */
export async function* runCases(server: Server, wanted = ''): AsyncGenerator<readonly [name: string, outcome: Outcome]> {
  const SCENARIO = wanted === '' ? '^C[0-9][0-9]' : `^(?=C[0-9][0-9]).*(${wanted})`;
  const events = run({ files: [join(ROOT, `test/e2e/${server}.test.ts`)], cwd: ROOT, env: { ...process.env, SCENARIO } });
  for await (const { type, data } of events) {
    if (type === 'test:stderr') process.stderr.write((data as { readonly message: string }).message);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, skip } = data as { readonly name: string; readonly skip?: string | boolean };
    if (casesOf(name).length === 0 || (skip !== undefined && skip !== false)) continue;
    if (type === 'test:fail') console.error(data);
    yield [name, type === 'test:pass' ? 'passes' : 'FAILS'];
  }
}
