/** Every command in the pages for operators is run in one laboratory, in the order of the pages, or is one of `not-run.ts`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import type { CommandScene } from '../../src/cli/testing/command-scene.ts';
import { runHere } from '../../src/cli/testing/command-here.ts';
import { sceneOfThisFile } from '../../src/cli/testing/command-scene.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { NOT_RUN } from './not-run.ts';
import type { PageCommand } from './page-commands.ts';
import { pageCommands, wordsOf } from './page-commands.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Those that delete come last. */
const PAGES = ['try', 'install', 'migrate', 'audit', 'troubleshoot']
  .map((name) => `docs/${name}.md`)
  .filter((page) => existsSync(join(ROOT, page)));
const OPERATE = globSync('docs/operate/*.md', { cwd: ROOT }).toSorted();
const COMMANDS = [...PAGES, ...OPERATE].flatMap(pageCommands);

const folder = mkdtempSync(join(tmpdir(), 'kiln-pages-'));
const before = process.cwd();
process.chdir(folder);
after(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});
const backups = join(folder, 'backups');
mkdirSync(backups);

/** What a reader replaces, and the flags that stand for an answer at a terminal. */
function asRunHere(text: string): string {
  return text
    .replace(/^npx /, '')
    .replace(/^kubectl kiln /, 'kiln ')
    .replace(/ \| jq .*$/, '')
    .replace(/ --kubeconfig ~\/\.kube\/config/, '')
    .replace(/(?<= )\/var\/backups\/ovn/, backups)
    .replace(/(?<= )FILE\b/, () => join(backups, readdirSync(backups)[0] ?? 'none'))
    .replace(/^(kiln (?:release|restore|delete|gc run|gc approve)(?!.*--dry-run).*)$/, '$1 --yes');
}

function programOf(text: string): string {
  return (
    text
      .replace(/^npx /, '')
      .replace(/^kubectl kiln /, 'kiln ')
      .split(' ')[0] ?? ''
  );
}

/** Exit codes: 1 is a finding, or the answer no. */
const ANSWERS: readonly (readonly [command: RegExp, exits: readonly number[]])[] = [
  [/^kiln (audit|migrate plan|status|diff|history|restore|gc (plan|status|approve))/, [0, 1]],
  [/^kiln uninstall --dry-run/, [0]],
];

let scene: CommandScene;
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  const image = 'docker.io/kubeovn/kube-ovn:v1.14.41';
  const containers = [{ name: 'kube-ovn-controller', image }];
  await scene.client.create<KubeObject>(DEPLOYMENTS, {
    metadata: { name: 'kube-ovn-controller', namespace: 'kube-system' },
    spec: { replicas: 0, selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers } } },
  } as never);
  await scene.make('configmaps', { metadata: { name: 'kiln-ovn', namespace: 'kube-system' }, data: { nb: 'tcp:10.0.0.1:6641' } });
  await scene.make('namespaces', { metadata: { name: 'shop' } });
  for (const vpc of ['shop', 'blue']) await scene.make('vpcs', { metadata: { name: vpc } });
  await scene.make('subnets', { metadata: { name: 'shop-net' }, spec: { vpc: 'shop', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] } });
  await scene.make('subnets', { metadata: { name: 'b1' }, spec: { vpc: 'blue', cidrBlock: '10.2.0.0/24' } });
  await scene.make('subnets', { metadata: { name: 'net-1' }, spec: { cidrBlock: '10.3.0.0/24' } });
  await scene.make('vips', { metadata: { name: 'db' }, spec: { subnet: 'shop-net' } });
  writeFileSync(join(folder, 'kiln.yaml'), 'defaultCidr: 10.20.0.0/16\n');
  await scene.controller.untilQuiet();
});
const noKubectl = findKubernetesProgram('kubectl') === undefined && 'kubectl is not installed';

interface Printed {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

function kubectl(words: readonly string[], input: string | undefined): Promise<Printed> {
  return new Promise((done) => {
    const child = execFile('kubectl', words, { env: { ...process.env, KUBECONFIG: scene.kubeconfig } }, (error, out, err) =>
      done({ exit: error === null ? 0 : 1, out, err }),
    );
    child.stdin?.end(input ?? '');
  });
}

function reasonOf({ text }: PageCommand): string | undefined {
  const found = NOT_RUN.find(({ command }) => command.test(text));
  return found === undefined ? undefined : `${found.why}: ${found.proof}`;
}

for (const [page, commands] of Map.groupBy(COMMANDS, (command) => command.page))
  describe(page, () => {
    for (const command of commands) {
      const text = command.text;
      if (reasonOf(command) !== undefined) continue;
      const program = programOf(text);
      test(text, { skip: skip !== false ? skip : program === 'kubectl' && noKubectl }, async () => {
        const [, ...words] = wordsOf(asRunHere(text));
        switch (program) {
          case 'kiln': {
            // The journal of the leader's pod: it needs no cluster.
            const { exit, err } = words[0] === 'history' ? await runHere(words, { KILN_JOURNAL: folder }) : await scene.kiln(...words);
            const exits = ANSWERS.find(([answer]) => answer.test(`kiln ${words.join(' ')}`))?.[1] ?? [0];
            assert.ok(exits.includes(exit ?? -1), `exit ${exit}: ${err}`);
            assert.doesNotMatch(err, /^ +at /m, 'a stack');
            break;
          }
          case 'kubectl': {
            const into = / > (\S+)$/.exec(text)?.[1];
            const { exit, out, err } = await kubectl(into === undefined ? words : words.slice(0, words.indexOf('>')), command.input);
            assert.equal(exit, 0, err);
            if (into !== undefined) writeFileSync(into, out);
            break;
          }
          case 'mkdir':
            mkdirSync(words[0] ?? '');
            break;
          case 'ovn-nbctl':
            await scene.nbctl(...words);
            break;
          default:
            assert.fail(`${text}: run it here, or add it to not-run.ts with the reason`);
        }
      });
    }
  });

test('the list of commands that are not run has no entry that no page needs, and names tests that exist', () => {
  const texts = COMMANDS.map(({ text }) => text);
  assert.ok(texts.length > 80, `${texts.length} commands`);
  assert.deepEqual(
    NOT_RUN.filter(({ proof }) => !existsSync(join(ROOT, proof))).map(({ proof }) => proof),
    [],
  );
  const optional = /helm|npm start/;
  assert.deepEqual(
    NOT_RUN.filter(({ command }) => !optional.test(command.source) && !texts.some((text) => command.test(text))).map(
      ({ command }) => command.source,
    ),
    [],
  );
});
