/** Tests whose names begin with the numbers of known failure cases, wherever in the project they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { casesOf } from '../../test/scenarios/failure-cases.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface NamedTest {
  readonly cases: readonly string[];
  readonly name: string;
  /** From the root of the project. */
  readonly file: string;
}

/** A test is `test('N05: …')`, or `name: 'N05 …'` in a list of scenarios. */
const NAME = /(?:\b(?:test|it)\(\s*|\bname:\s*)(?:'([NT]\d\d(?:[^'\\\n]|\\.)*)'|"([NT]\d\d[^"\n]*)"|`([NT]\d\d[^`\n]*)`)/g;

/** All of them, in the order of their files' names. */
export function namedTests(): readonly NamedTest[] {
  return ['src', 'test']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`))
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(NAME)].map(([, single, double, template]) => {
        const name = (single ?? double ?? template ?? '').replace(/\\(.)/g, '$1');
        return { cases: casesOf(name), name, file };
      }),
    );
}
