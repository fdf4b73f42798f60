/** Does to a copy of the project what `docs/add-a-feature.md` says, and runs the tests of the page and those that hold every kind to the rules. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { after, test } from 'node:test';
import { PARTS } from '../../src/kinds/parts.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'add-a-feature.md'), 'utf8');
const COPIED = ['src', 'lab', 'test', 'scripts', 'bench', 'deploy', 'docs', 'bin', 'Containerfile', 'package.json', 'tsconfig.json'];

interface Block {
  readonly language: string;
  readonly path: string;
  /** The block is put into the list of that file. */
  readonly isAdded: boolean;
  readonly text: string;
}

/** The blocks of code of the page, in order. */
function blocks(): readonly Block[] {
  return [...PAGE.matchAll(/^```(\w+)(?: (\S+))?( \(add\))?\n([\s\S]*?)^```$/gm)].map(([, language = '', path = '', add, text = '']) => ({
    language,
    path,
    isAdded: add !== undefined,
    text,
  }));
}

const copy = mkdtempSync(join(tmpdir(), 'kiln-feature-'));
after(() => rmSync(copy, { recursive: true, force: true }));

function apply({ path, isAdded, text }: Block): void {
  const file = join(copy, path);
  mkdirSync(dirname(file), { recursive: true });
  if (!isAdded) writeFileSync(file, text, { flag: 'wx' });
  else writeFileSync(file, readFileSync(file, 'utf8').replace(/^\];$/m, `${text}];`));
}

/** `npm run --silent <script> [> <file>]`, with this Node. */
function runLine(line: string): void {
  const [, script = '', file] =
    /^npm run --silent ([\w-]+)(?: > (\S+))?$/.exec(line) ?? assert.fail(`not a script of the project: ${line}`);
  const scripts = (JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8')) as { readonly scripts: Readonly<Record<string, string>> })
    .scripts;
  const [, path = ''] = /^node (\S+)$/.exec(scripts[script] ?? '') ?? assert.fail(`package.json has no script ${script}`);
  const printed = execFileSync(process.execPath, [path], { cwd: copy, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (file !== undefined) writeFileSync(join(copy, file), printed);
}

function run(name: string, program: string, args: readonly string[]): void {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, encoding: 'utf8', env, maxBuffer: 1 << 26 });
  assert.equal(status, 0, `${name}:\n${stdout}\n${stderr}`.slice(0, 20_000));
}

test('a kind that is added as the page says works in all parts', () => {
  for (const name of COPIED) cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter: (path) => !path.includes(`${sep}.`) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const all = blocks();
  for (const block of all.filter(({ language }) => language === 'ts')) apply(block);
  for (const { text } of all.filter(({ language }) => language === 'sh')) for (const line of text.trim().split('\n')) runLine(line);
  run('types', process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '-p', 'tsconfig.json']);
  const tests = [
    ...all.map(({ path }) => path).filter((path) => path.endsWith('.test.ts')),
    'test/layering.test.ts',
    'test/kinds/generated.test.ts',
    'test/conformance/deploy.test.ts',
  ];
  run('tests', process.execPath, ['--test', ...tests]);
});

test('the page names each part of a record', () => {
  for (const { name } of PARTS) assert.ok(PAGE.includes(`\`${name}.ts\``), name);
});
