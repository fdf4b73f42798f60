/** Reads the sources and holds them to the rules of `docs/architecture.md` that no compiler knows. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { PARTS } from '../src/kinds/parts.ts';
import { ALLOWED_NAMES } from './kinds/allowed-names.ts';
import { filesNamingKinds } from './kinds/kind-names.ts';

/**
 * What each folder of `src` may import, from the lowest up. Each line may name only folders above it, so there can be no
 * cycle. `lab` (a package beside `src`) and `testing` are no part of the product, which does not import them.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  text: [],
  timing: [],
  net: [],
  certificates: ['net'],
  ipam: ['net'],
  runtime: ['text'],
  ovsdb: ['timing'],
  nb: ['text', 'net', 'ovsdb'],
  journal: ['timing', 'ovsdb', 'nb'],
  backup: ['timing', 'net', 'ovsdb', 'nb'],
  'match-language': ['net'],
  api: ['text', 'net', 'match-language'],
  kube: ['text', 'timing', 'api'],
  cni: [],
  engine: ['timing'],
  world: ['engine', 'net', 'ipam', 'ovsdb', 'nb', 'api', 'kube'],
  blockers: ['text', 'net', 'nb', 'api', 'engine', 'world'],
  compile: ['text', 'net', 'ipam', 'nb', 'api', 'engine', 'world', 'blockers'],
  diff: ['text', 'net', 'ovsdb', 'nb', 'api', 'engine', 'world', 'compile'],
  allocate: ['net', 'ipam', 'nb', 'api', 'engine', 'world', 'compile'],
  explain: ['text', 'net', 'nb', 'api', 'engine', 'world', 'blockers', 'compile', 'diff'],
  invariants: ['net', 'ipam', 'nb', 'api', 'engine', 'world', 'blockers', 'compile', 'diff'],
  webhook: [
    'text',
    'timing',
    'net',
    'certificates',
    'ipam',
    'runtime',
    'nb',
    'api',
    'kube',
    'engine',
    'world',
    'blockers',
    'compile',
    'allocate',
  ],
  commit: [
    'text',
    'timing',
    'net',
    'runtime',
    'ovsdb',
    'nb',
    'journal',
    'backup',
    'api',
    'kube',
    'engine',
    'world',
    'blockers',
    'compile',
    'diff',
  ],
  controller: [
    ...[
      'text',
      'timing',
      'net',
      'ipam',
      'runtime',
      'ovsdb',
      'nb',
      'api',
      'kube',
      'engine',
      'world',
      'blockers',
      'compile',
      'diff',
      'allocate',
    ],
    ...['explain', 'invariants', 'journal', 'backup', 'commit'],
  ],
  preview: [
    ...['text', 'ovsdb', 'nb', 'api', 'kube', 'engine', 'world', 'blockers', 'compile', 'diff', 'allocate'],
    ...['explain', 'webhook', 'commit', 'controller'],
  ],
  agent: ['text', 'timing', 'net', 'certificates', 'runtime', 'ovsdb', 'api', 'kube', 'cni', 'engine'],
  central: ['certificates', 'runtime', 'kube', 'engine', 'world'],
  kinds: [],
  lab: ['text', 'timing', 'net', 'certificates', 'runtime', 'ovsdb', 'api', 'kube', 'agent'],
  cli: [
    ...[
      'text',
      'timing',
      'match-language',
      'net',
      'runtime',
      'ovsdb',
      'nb',
      'api',
      'kube',
      'engine',
      'world',
      'blockers',
      'compile',
      'diff',
      'explain',
      'invariants',
    ],
    ...['journal', 'backup', 'commit', 'controller', 'preview', 'webhook', 'agent', 'central'],
  ],
  testing: [
    ...[
      'text',
      'timing',
      'net',
      'ipam',
      'runtime',
      'ovsdb',
      'nb',
      'api',
      'kube',
      'engine',
      'world',
      'blockers',
      'compile',
      'diff',
      'allocate',
    ],
    ...['certificates', 'explain', 'invariants', 'journal', 'commit', 'controller', 'preview', 'webhook', 'lab', 'cli'],
  ],
};

/**
 * Sub-folders of a folder, from the lowest up: each may import only those before it. The files that lie in the folder itself are `.` in the
 * order, or come last.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/kube': ['.', 'transport', 'pods', 'client', 'fairness', 'cache', 'write', 'events', 'leader'],
  'src/compile/pod': ['view', 'interface', 'tenancy', 'address', 'port', 'report', 'annotations'],
  'src/compile/subnet': ['validity', 'rows', 'retained', 'status'],
  'src/api': ['.', 'values', 'kubernetes', 'schema', 'kinds', 'defaults', 'validation', 'pod', 'cel'],
  'src/controller': ['time', 'outages', 'reading', 'start', 'leadership', 'reports', 'targets'],
  'src/cli': [
    ...[
      'output',
      'errors',
      'arguments',
      'manifests',
      'process',
      'connection',
      'settings',
      'cluster',
      'deletion',
      'bundle',
      'audit',
      'repair',
      'migration',
      'laboratory',
    ],
    ...['commands'],
  ],
  'src/webhook': ['protocol', 'kinds', 'review', 'manifests', 'certificate', 'server'],
  'test/sim': ['cluster', 'steps', 'draw', 'checks', 'known-faults', 'lives', 'node'],
};

/** The core: same input, same output. No I/O, so no module of Node's, no package, no clock, chance, timer or output. */
const PURE = new Set([
  'text',
  'net',
  'match-language',
  'ipam',
  'nb',
  'api',
  'blockers',
  'compile',
  'diff',
  'allocate',
  'explain',
  'invariants',
]);
/** Packages that are as pure. */
const PURE_PACKAGES = new Set(['yaml', '@marcbachmann/cel-js', 're2js']);
const IMPURE_WORDS = /\b(Date\.now|new Date\(\)|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|console\.|process\.)/;

/** By file or sub-folder in the folder of a kind, and by file in that of the generated files. */
const LAYER_OF_PART: ReadonlyMap<string, string> = new Map(
  PARTS.flatMap(({ name, file, layer }) => [name, file].map((one) => [one, layer] as const)),
);

const NAMELESS = /^(utils?|helpers?|common|managers?|misc)$/;
const LONG = 400;

interface Source {
  /** From the project's root: `src/net/cidr.ts`, `lab/laboratory.ts`. */
  readonly path: string;
  /** The folder of `src`, or `lab`; empty for other code. */
  readonly layer: string;
  readonly text: string;
  /** Code that only tests run: `*.test.ts`, `*.bench.ts`, `testing/`. */
  readonly forTests: boolean;
}

const root = join(import.meta.dirname, '..');
const sources = sourcesOf('{src,lab}/**/*.ts');
const product = sources.filter(({ forTests }) => !forTests);
const simulator = sourcesOf('test/sim/**/*.ts');

function sourcesOf(pattern: string): readonly Source[] {
  return globSync(pattern, { cwd: root }).map((path) => ({
    path,
    layer: layerOf(path) ?? '',
    text: readFileSync(join(root, path), 'utf8'),
    forTests: /\.(test|bench)\.ts$/.test(path) || /^src\/(.+\/)?testing\/|^src\/kinds\/[^/]+\/simulator\.ts$/.test(path),
  }));
}

const IMPORT = /^(?:import|export)\s+(?:[\w$*\s{},]+\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

function imports({ text }: Source): string[] {
  return [...text.matchAll(IMPORT)].map((found) => found[1] ?? found[2] ?? '');
}

/** Undefined for a path outside of `src` and `lab`. A part of a kind's record has the layer of that part. */
function layerOf(path: string): string | undefined {
  const [top, folder, , part] = path.split('/');
  if (folder === 'kinds' && part !== undefined) return LAYER_OF_PART.get(part.replace(/\.ts$/, '')) ?? folder;
  return top === 'lab' ? top : top === 'src' ? folder : undefined;
}

/** The layer that an import leads to; undefined for a package or a module of Node's. */
function importedLayer({ path }: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const layer = layerOf(normalize(join(dirname(path), specifier)));
  assert.ok(layer !== undefined, `${path} imports ${specifier}, which lies outside src and lab`);
  return layer;
}

/** Lines of code, without those that are only a comment. */
function code({ text }: Source): string[] {
  return text.split('\n').filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line));
}

function none(problems: readonly string[], rule: string): void {
  assert.equal(problems.length, 0, `${rule}\n  ${problems.join('\n  ')}`);
}

test('the test finds sources and their imports', () => {
  assert.ok(product.length > 50);
  assert.ok(product.flatMap(imports).length > product.length);
  assert.ok(simulator.length > 50);
  const text =
    "import a, {\n  type b,\n} from './c.ts';\nimport 'd';\nexport * from \"e\";\nexport function f() { return 'g'; }\nawait import('h');";
  assert.deepEqual(imports({ path: 'src/x/y.ts', layer: 'x', text, forTests: false }), ['./c.ts', 'd', 'e', 'h']);
});

test('every folder of src, and lab, has its line in the table, and a line names only folders above it', () => {
  const known = Object.keys(MAY_IMPORT);
  none(
    [...new Set(sources.map(({ layer }) => layer))].filter((layer) => !known.includes(layer)),
    'folders without a line:',
  );
  for (const [index, [layer, allowed]] of Object.entries(MAY_IMPORT).entries()) {
    none(
      allowed.filter((name) => !known.slice(0, index).includes(name)),
      `${layer} names what is not above it:`,
    );
  }
});

test('imports point one way', () => {
  const problems = product.flatMap((source) =>
    imports(source).flatMap((specifier) => {
      const layer = importedLayer(source, specifier);
      const allowed =
        layer === undefined ||
        layer === source.layer ||
        source.path === WAY_TO_LAB.file ||
        (MAY_IMPORT[source.layer] ?? []).includes(layer);
      return allowed ? [] : [`${source.path} imports ${specifier}`];
    }),
  );
  none(problems, 'imports against the direction:');
});

test('imports between the sub-folders of a folder point one way', () => {
  for (const [folder, order] of Object.entries(ROOMS)) {
    const room = (path: string): number => {
      const [name = '', ...inside] = path.slice(folder.length + 1).split('/');
      if (inside.length > 0) return order.indexOf(name);
      return order.includes('.') ? order.indexOf('.') : order.length;
    };
    const inside = [...product, ...simulator].filter(({ path, forTests }) => path.startsWith(`${folder}/`) && !forTests);
    none(
      inside.filter(({ path }) => room(path) === -1).map(({ path }) => path),
      `sub-folders of ${folder} without a place in the order:`,
    );
    const problems = inside.flatMap((source) =>
      imports(source)
        .filter((name) => name.startsWith('.'))
        .map((name) => normalize(join(dirname(source.path), name)))
        .filter((path) => path.startsWith(`${folder}/`) && room(path) > room(source.path))
        .map((path) => `${source.path} imports ${path}`),
    );
    none(problems, `imports against the direction in ${folder}:`);
    // A sub-folder has its README, or its line in the table of the folder's.
    const table = readFileSync(join(root, folder, 'README.md'), 'utf8');
    none(
      order.filter((name) => !existsSync(join(root, folder, name, 'README.md')) && !table.includes(`\n| \`${name}/\` |`)),
      `sub-folders of ${folder} without README.md:`,
    );
  }
});

/** The one way from the product into `lab`. */
const WAY_TO_LAB = { file: 'src/cli/laboratory/laboratory.ts', code: "const loaded = () => import('../../../lab/index.ts');" };

test('no circle of imports, nor of type imports', () => {
  const next = new Map(
    [...sources, ...simulator].map((source) => [
      source.path,
      imports(source).flatMap((name) => (name.startsWith('.') ? [normalize(join(dirname(source.path), name))] : [])),
    ]),
  );
  assert.deepEqual(
    circleOf(
      new Map([
        ['a', ['b']],
        ['b', ['c', 'd']],
        ['c', []],
        ['d', ['b']],
      ]),
    ),
    ['b', 'd'],
  );
  none(circleOf(next), 'each of these imports the one after it, and the last one the first:');
});

/** The first circle that is found; empty where there is none. */
function circleOf(next: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const done = new Set<string>();
  const walk = (path: string, before: readonly string[]): readonly string[] => {
    if (before.includes(path)) return before.slice(before.indexOf(path));
    if (done.has(path)) return [];
    for (const imported of next.get(path) ?? []) {
      const circle = walk(imported, [...before, path]);
      if (circle.length > 0) return circle;
    }
    done.add(path);
    return [];
  };
  for (const path of next.keys()) {
    const circle = walk(path, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

test('the product loads the laboratory in one file, when it is started', () => {
  const into = product
    .filter(({ layer }) => layer !== 'lab' && layer !== 'testing')
    .flatMap((source) => imports(source).flatMap((name) => (importedLayer(source, name) === 'lab' ? [source] : [])));
  assert.deepEqual(
    into.map(({ path }) => path),
    [WAY_TO_LAB.file],
  );
  assert.deepEqual(
    into
      .map(code)
      .flat()
      .filter((line) => line.includes('/lab/index.ts') && line.includes('import(')),
    [WAY_TO_LAB.code],
  );
});

test('the product does not import code that only tests run, but for the laboratory', () => {
  const problems = product
    .filter(({ layer }) => layer !== 'lab')
    .flatMap((source) =>
      imports(source)
        .filter((name) => /\/testing\/|\/simulator\.ts$|\.test\.ts$/.test(name))
        .map((name) => `${source.path} imports ${name}`),
    );
  none(problems, 'imports of code for tests:');
});

/** A hash is a function of its input; all else of the module draws or reads something. */
const HASH_IMPORT = /^import \{ createHash \} from 'node:crypto';$/m;

test('the core is pure', () => {
  const core = product.filter(({ layer }) => PURE.has(layer));
  const outside = core.flatMap((source) =>
    imports(source)
      .filter((name) => !name.startsWith('.') && !PURE_PACKAGES.has(name) && !(name === 'node:crypto' && HASH_IMPORT.test(source.text)))
      .map((name) => `${source.path} imports ${name}`),
  );
  none(outside, 'imports of effects:');
  const words = core.flatMap((source) =>
    code(source)
      .filter((line) => IMPURE_WORDS.test(line))
      .map((line) => `${source.path}: ${line.trim()}`),
  );
  none(words, 'effects:');
});

test('no name is without meaning', () => {
  const parts = (path: string): string[] => path.split('/').map((part) => basename(part, '.ts').replace(/\.test$/, ''));
  none(
    sources.map(({ path }) => path).filter((path) => parts(path).some((part) => NAMELESS.test(part))),
    'names that say nothing:',
  );
});

test('every folder of src and lab has a README', () => {
  const folders = new Set(sources.map(({ path }) => path.split('/').slice(0, 2).join('/')));
  none(
    [...folders].filter((folder) => !folder.endsWith('.ts') && !existsSync(join(root, folder, 'README.md'))),
    'folders without README.md:',
  );
});

test('a README names files that exist', () => {
  const files = globSync('{src,lab,test,scripts,bench}/**/*.{ts,mjs}', { cwd: root });
  const problems = globSync('{src,lab}/**/README.md', { cwd: root }).flatMap((readme) =>
    [...readFileSync(join(root, readme), 'utf8').matchAll(/`([\w./-]+\.(?:ts|mjs))`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !files.includes(normalize(join(dirname(readme), name))) && !files.some((file) => `/${file}`.endsWith(`/${name}`)))
      .map((name) => `${readme}: ${name}`),
  );
  none(problems, 'files that are not there:');
});

test('a long file gives its reason in its first lines', () => {
  const problems = product.filter(({ text }) => {
    const lines = text.split('\n');
    return lines.length > LONG && !/\b(long|lines|length|one file|generated)\b/i.test(lines.slice(0, 12).join('\n'));
  });
  none(
    problems.map(({ path }) => path),
    `files above ${LONG} lines without a reason:`,
  );
});

test('no type is opened up, and no test is narrowed to one', () => {
  const problems = sources.flatMap((source) =>
    code(source)
      .filter((line) => /\bas any\b|^\s*(export )?(const )?enum \w|\b(test|it|describe|suite)\.only\(/.test(line))
      .map((line) => `${source.path}: ${line.trim()}`),
  );
  none(problems, 'lines:');
});

/** A program's name, then a value before the template ends. */
const OFFERED = /\b(kubectl|kiln (?:explain|delete|reserve|release|status|diff|bundle|uninstall)|ovn-nbctl) [^`]*?\$\{/g;

test('a command that is offered takes its values through commandText, which quotes them', () => {
  const problems = product
    .filter(({ layer }) => layer !== 'lab')
    .flatMap((source) => {
      const text = code(source).join('\n');
      return [...text.matchAll(OFFERED)]
        .filter(({ index }) => !text.slice(0, text.lastIndexOf('`', index)).endsWith('commandText'))
        .map(({ index }) => `${source.path}: ${text.slice(index, text.indexOf('\n', index))}`)
        .filter((line) => !/kubectl get pods -A -o wide\$\{pod === undefined/.test(line));
    });
  none(problems, 'commands put together by hand:');
});

test('commands print through output/ alone, where texts of others are made visible', () => {
  const problems = product
    .filter(({ path }) => path.startsWith('src/cli/') && !path.startsWith('src/cli/output/'))
    .flatMap((source) =>
      code(source)
        .filter((line) => /(stdout|stderr|stream)\.write\((?!'\\n'\))|console\./.test(line))
        .map((line) => `${source.path}: ${line.trim()}`),
    );
  none(problems, 'writes past the boundary:');
});

test('no file outside of the kinds’ folders names a kind, but for a list that only shrinks', () => {
  const named = filesNamingKinds();
  const known = (path: string): readonly string[] => (ALLOWED_NAMES[path] ?? '').split(' ').filter((name) => name !== '');
  none(
    [...named].flatMap(([path, names]) => {
      const more = names.filter((name) => !known(path).includes(name));
      return more.length === 0 ? [] : [`${path}: ${more.join(' ')}`];
    }),
    'files that name a kind which test/kinds/allowed-names.ts does not list for them:',
  );
  none(
    Object.keys(ALLOWED_NAMES).flatMap((path) => {
      const gone = known(path).filter((name) => !(named.get(path) ?? []).includes(name));
      return gone.length === 0 ? [] : [`${path}: ${gone.join(' ')}`];
    }),
    'lines of test/kinds/allowed-names.ts that can go:',
  );
});

test('names of kinds are found in code, and not in comments', () => {
  const named = (code: string): readonly string[] => filesNamingKinds(['src/x.ts'], () => code).get('src/x.ts') ?? [];
  assert.deepEqual(named("const a = 'Vip';"), ['vips']);
  assert.deepEqual(named("case 'vips':"), ['vips']);
  assert.deepEqual(named('world.ipPools.get(name)'), ['ippools']);
  assert.deepEqual(named("import { x } from '../compile/pod/pod.ts';"), ['pod']);
  assert.deepEqual(named("import { x } from '../../api/kinds/switch-lb-rule.ts';"), ['switch-lb-rules']);
  assert.deepEqual(named("import { x } from '../kinds/vip/table.ts';"), ['vips']);
  assert.deepEqual(named(['const text = `Subnet $', '{name} is gone`;'].join('')), ['subnets']);
  assert.deepEqual(named(["// 'Vip'", '/** `Vip` */', 'const vips = [];'].join('\n')), []);
});
