/** Every command that a message, a reason or an error names is one that its program accepts: verb, kind, name and flags. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REASONS } from '../api/reasons.ts';
import { resourceNamed, TYPED_NAMES } from '../explain/kind-names.ts';
import { KUBE_ADVICE, OVSDB_ADVICE } from './errors/error-advice.ts';
import { everyCommand } from './arguments/every-command.ts';
import { program } from './program.ts';
import { WORKLOAD_NAMES } from './deletion/workload-owner.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Replaces a value, such as the name of an object. */
const VALUE = 'VALUE';
/** The end of a command, where its sentence continues. */
const END = / (?:and|or|to|as|shows?|lists|after|then|by) |[,;)"'`\n]|: |(?<=\S)\. | \(|\\n/;

interface Named {
  readonly text: string;
  readonly where: string;
}

/** Commands in the text of the product: values are replaced by one word. */
function named(): readonly Named[] {
  const found: Named[] = [];
  for (const path of globSync('src/**/*.ts', { cwd: ROOT }).filter((one) => !/\.test\.ts$|\/testing\//.test(one))) {
    const source = readFileSync(join(ROOT, path), 'utf8')
      .replaceAll(/^\s*(\/?\*|\/\/).*$/gm, '')
      .replaceAll(/\$\{inNamespace\([^}]*\)\}/g, '')
      .replaceAll(/\$\{objectText\([^{}]*(?:\$\{[^{}]*\}[^{}]*)*\)\}/g, VALUE)
      .replaceAll(/\$\{[^{}]*\}/g, VALUE);
    for (const { index, 0: start } of source.matchAll(/(?<=[`'"(]|[;:,] |then |with |or |; )(?:kubectl|kiln|ovn-nbctl) (?=[-a-zV])/g)) {
      const rest = source.slice(index + start.length);
      const text = `${start}${rest.slice(0, rest.search(END) === -1 ? undefined : rest.search(END))}`.trim();
      found.push({ text, where: path });
    }
  }
  return found;
}

/** Verbs with the minimum number of words that must follow; the first of them is a kind, except for verbs in `NO_KIND`. */
const KUBECTL: Readonly<Record<string, number>> = {
  get: 1,
  describe: 1,
  edit: 2,
  delete: 2,
  annotate: 3,
  label: 3,
  scale: 2,
  set: 2,
  auth: 1,
  apply: 0,
  'cluster-info': 0,
  config: 1,
  'api-resources': 0,
};
const NO_KIND = new Set(['auth', 'apply', 'set', 'config', 'cluster-info', 'api-resources']);
const KUBECTL_FLAGS =
  /^(-n|-A|-l|-o|-w|-f|--all|--replicas=(\d+|VALUE)|--show-labels|--api-group=VALUE|--subresource|--as|--list|--server-side=false|--validate=false|--dry-run=(client|server))$/;
const WITH_VALUE = new Set(['-n', '-l', '-o', '-f', '--as', '--subresource']);
/** Kinds of other APIs, which Kiln does not observe. */
const OTHER_KINDS = new Set([
  ...['deployment', 'crd', 'events', 'secret', 'poddisruptionbudgets', 'net-attach-def', 'validatingadmissionpolicybinding'],
  ...['validatingwebhookconfiguration', 'validatingwebhookconfigurations', 'mutatingwebhookconfigurations', 'validatingadmissionpolicies'],
]);
const NBCTL: Readonly<Record<string, number>> = {
  show: 0,
  list: 1,
  remove: 4,
  destroy: 2,
  'lr-route-list': 0,
  'lr-route-del': 0,
  'lb-del': 1,
  'lb-list': 0,
  'lr-nat-del': 1,
  'lr-nat-list': 1,
  'lsp-del': 0,
};

function problemOf(text: string): string | undefined {
  const [name = '', ...words] = text.split(/\s+/);
  if (name === 'kiln') return kilnProblem(words);
  if (name === 'ovn-nbctl') {
    const [verb = '', ...rest] = words.filter((word) => !word.startsWith('--db='));
    return verb in NBCTL && rest.length >= (NBCTL[verb] ?? 0) ? undefined : `ovn-nbctl has no ${verb} like this`;
  }
  return kubectlProblem(words);
}

function kilnProblem([first = '', ...others]: readonly string[]): string | undefined {
  if (first === '--help') return undefined;
  const group = program.commands.find((one) => one.name() === first)?.commands ?? [];
  // A group may be a command as well: `kiln agent`.
  const isCommand = everyCommand(program).some(({ name }) => name === first);
  const isGroup = isCommand ? group.some((one) => one.name() === others[0]) : group.length > 0;
  const verb = isGroup ? `${first} ${others[0]}` : first;
  const rest = isGroup ? others.slice(1) : others;
  const command = verb === VALUE ? program.commands[0] : everyCommand(program).find(({ name }) => name === verb)?.command;
  if (command === undefined) return `kiln has no command ${verb}`;
  const positional: string[] = [];
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    // What follows is another program's.
    if (word === '--') break;
    if (!word.startsWith('-')) {
      positional.push(word);
      continue;
    }
    const [flag = ''] = word.split('=', 1);
    if (flag === '--help' || flag.includes(VALUE)) continue;
    const option = command.options.find(({ long, short }) => long === flag || short === flag);
    if (option === undefined) return verb === VALUE ? undefined : `kiln ${verb} has no flag ${flag}`;
    if (option.required && !word.includes('=')) at++;
  }
  const kinds = new Set([...TYPED_NAMES, ...WORKLOAD_NAMES, VALUE]);
  const [kind = VALUE] = positional;
  if (['explain', 'delete'].includes(verb) && !rest.includes('--help')) {
    const [type = ''] = kind.split('/');
    if (positional.length > 0 && !kinds.has(type)) return `kiln ${verb} does not know the kind ${type}`;
  }
  return undefined;
}

function kubectlProblem(words: readonly string[]): string | undefined {
  const positional: string[] = [];
  const flags: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) positional.push(word);
    else {
      flags.push(word);
      if (!KUBECTL_FLAGS.test(word) && !/^-o=?\S+$/.test(word)) return `flag ${word}`;
      if (word === '-f' && !existsSync(join(ROOT, words[at + 1] ?? ''))) return `there is no file ${words[at + 1]}`;
      if (WITH_VALUE.has(word)) at++;
    }
  }
  const [verb = '', ...rest] = positional;
  if (verb === VALUE) return undefined;
  const least = KUBECTL[verb];
  if (least === undefined) return `kubectl ${verb}`;
  const bySelector = verb === 'get' || flags.includes('--all') || flags.includes('-l') || flags.includes('-f');
  // A placeholder may replace several words, such as kind and name.
  if (rest.length < least && !bySelector && !(rest.length === 1 && rest[0] === VALUE)) return `kubectl ${verb} needs a name`;
  if (NO_KIND.has(verb) || flags.includes('-f')) return undefined;
  const kinds = (rest[0] ?? '').split(',').map((kind) => kind.split('/')[0] ?? '');
  const unknown = kinds.find(
    (kind) => !kind.includes(VALUE) && kind !== 'KIND' && resourceNamed(kind) === undefined && !OTHER_KINDS.has(kind),
  );
  return unknown === undefined ? undefined : `no kind is called ${unknown}`;
}

test('every command in a message is one that its program accepts', () => {
  const commands = named();
  assert.ok(commands.length > 100, `${commands.length} were found`);
  for (const verb of ['kubectl edit', 'kubectl delete', 'kiln explain', 'ovn-nbctl remove'])
    assert.ok(
      commands.some(({ text }) => text.startsWith(verb)),
      verb,
    );
  assert.deepEqual(
    commands.flatMap(({ text, where }) => {
      const problem = problemOf(text);
      return problem === undefined ? [] : [`${where}: ${text}: ${problem}`];
    }),
    [],
  );
});

test('a command that its program would not accept is found', () => {
  for (const wrong of [
    'kubectl delete ippool',
    'kubectl edit subnet',
    'kubectl get subnetz',
    'kubectl apply -f deploy/none.yaml',
    'kiln explian vpc red',
    'kiln delete vpc red --cascada',
    'kiln explain thing red',
    'kiln lab exek VALUE',
    'kiln lab exec --namespace VALUE',
    'ovn-nbctl remove Logical_Switch a',
  ])
    assert.notEqual(problemOf(wrong), undefined, wrong);
  for (const right of [
    'kiln lab exec --directory VALUE VALUE',
    'kubectl delete ippool VALUE',
    'kiln delete vpc VALUE --cascade --dry-run=client',
    'kubectl get ips -l a=b',
  ])
    assert.equal(problemOf(right), undefined, right);
});

test('no message asks to remove what belongs to another program', () => {
  const texts = [...Object.values(REASONS).map(({ next }) => next), ...Object.values(KUBE_ADVICE), ...Object.values(OVSDB_ADVICE)];
  const sources = globSync('src/{diff,compile,commit}/**/*.ts', { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'));
  for (const text of [...texts, ...sources]) assert.doesNotMatch(text, /remove (?:that|the other|the foreign) row/);
});

/**
 * The only places whose message has a command that deletes from OVN: leftovers of Kube-OVN that no object needs, a value that keeps an option of Kiln from being set, Kiln's own term.
 */
const DELETING: readonly string[] = [
  'src/cli/commands/uninstall.ts',
  'src/compile/global-options.ts',
  'src/explain/leftover-vips.ts',
  'src/explain/leftovers.ts',
];

test('a command that deletes from OVN is in messages about leftovers of Kube-OVN and keys of NB_Global alone', () => {
  const deletes = /ovn-nbctl (?:--\S+ )*(?:remove|destroy|clear|[a-z]+(?:-[a-z]+)*-del)\b/;
  const found = globSync('src/**/*.ts', { cwd: ROOT })
    .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
    .filter((path) => deletes.test(readFileSync(join(ROOT, path), 'utf8')));
  assert.deepEqual(found.toSorted(), DELETING);
});
