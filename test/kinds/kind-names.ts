/**
 * Which product files name a kind outside of the kinds' own folders. A kind is named by its kind or its plural name in quotes, by its table
 * of the World, by an import of its definition or of its rules, and by its kind at the start of a text about one object of it.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RESOURCES, RESOURCE_NAMES } from '../../src/world/resources.ts';
import { DEFAULT_SETTINGS } from '../../src/world/settings.ts';
import { World } from '../../src/world/world.ts';

/** Folders of `src/compile` with the rules of one kind, or of a family of kinds. */
const RULE_FOLDERS = ['pod', 'subnet', 'vpc', 'ip', 'node', 'namespace', 'vip-eip', 'nat', 'service'];

/** Folders and files of one kind, or of a family of kinds. A kind may name those that it needs. */
const FOLDERS_OF_KINDS: readonly RegExp[] = [
  /^src\/kinds\//,
  /^src\/api\/(kinds|pod)\/(?!crds\.ts)/,
  /^src\/api\/(defaults|validation)\/(subnet|vpc|ip|ip-pool|vip-eip)-/,
  /^src\/api\/kubernetes\//,
  new RegExp(`^src/compile/(${RULE_FOLDERS.join('|')})/`),
  /^src\/webhook\/kinds\//,
];

const root = join(import.meta.dirname, '..', '..');

/** Paths of the product's files from the project's root. The laboratory is a package of its own: it plays nodes and pods. */
function productFiles(): readonly string[] {
  return globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !/\.(test|bench)\.ts$/.test(path) && !/^src\/(.+\/)?testing\//.test(path))
    .toSorted();
}

/** By resource, and by folder of rules: what names it in code. */
function namesOfKinds(): ReadonlyMap<string, RegExp> {
  const world = new World(DEFAULT_SETTINGS);
  const properties = Object.entries(world);
  const folders = RULE_FOLDERS.map((folder) => [folder, new RegExp(`(/compile|'\\.)/${folder}/[\\w/-]+\\.ts'`)] as const);
  return new Map([
    ...folders,
    ...RESOURCE_NAMES.map((resource) => {
      const { kind, plural } = RESOURCES[resource];
      const table = world.tables[resource];
      const property = properties.find(([, value]) => table !== undefined && value === table)?.[0];
      const file = kind.replaceAll(/([a-z])([A-Z])|([A-Z]+)([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();
      const patterns = [
        `['"\`](${kind}|${plural})['"]`,
        `\`${kind} \\$\\{`,
        `(\\bkinds|'\\.)/(${file}|${file}/[\\w/-]+)\\.ts'`,
        ...(property === undefined ? [] : [`\\bworld\\.${property}\\b`]),
      ];
      return [resource, new RegExp(patterns.join('|'))] as const;
    }),
  ]);
}

/** Kinds that each product file names outside of their folders, by path. @param files paths from the root; default: all of the product */
export function filesNamingKinds(
  files: readonly string[] = productFiles(),
  read: (path: string) => string = (path) => readFileSync(join(root, path), 'utf8'),
): ReadonlyMap<string, readonly string[]> {
  const names = [...namesOfKinds()];
  const found = new Map<string, readonly string[]>();
  for (const path of files) {
    if (FOLDERS_OF_KINDS.some((folder) => folder.test(path))) continue;
    const code = read(path)
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line))
      .join('\n')
      // A column of a row, and its word for users, is no kind: `vips` of a load balancer.
      .replaceAll(/\b(row\[|count\()'\w+'(\), '\w+', '\w+')?/g, '$1');
    const named = names.flatMap(([resource, pattern]) => (pattern.test(code) ? [resource] : []));
    if (named.length > 0) found.set(path, named);
  }
  return found;
}

/** `path: kinds` for each line, to look at by hand: `node test/kinds/kind-names.ts`. */
if (basename(process.argv[1] ?? '') === 'kind-names.ts')
  for (const [path, kinds] of filesNamingKinds()) process.stdout.write(`${path}: ${kinds.join(' ')}\n`);
