/** The generated files of `src/kinds/generated`: each names one part of all records, so that a layer finds its parts without the layers above it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { KINDS } from '../../src/kinds/list.ts';
import type { Part } from '../../src/kinds/parts.ts';
import { PARTS } from '../../src/kinds/parts.ts';

const KINDS_FOLDER = join(import.meta.dirname, '..', '..', 'src', 'kinds');

/** What a generated file imports beside the parts. */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  table: [
    "import { AnyWorld } from '../../engine/any-world.ts';",
    "import type { TableOf } from '../../world/kind-table.ts';",
    "import { openTable } from '../../world/kind-table.ts';",
    "import type { Reactor } from '../../engine/reactor.ts';",
    "import type { Settings } from '../../world/settings.ts';",
  ],
  'agent-table': [
    "import type { AgentTableOf } from '../../agent/world/agent-table.ts';",
    "import { openAgentTable } from '../../agent/world/agent-table.ts';",
    "import { AnyWorld } from '../../engine/any-world.ts';",
  ],
};

/** A World whose tables have names in code, so that a rule reads `world.ipPools`. */
interface ClassOfTables {
  readonly name: string;
  readonly doc: string;
  readonly type: string;
  readonly open: string;
  /** Whether tables follow from the settings. */
  readonly hasSettings: boolean;
  readonly byResource: string;
}

const CLASSES: Readonly<Record<string, ClassOfTables>> = {
  table: {
    name: 'KindTables',
    doc: 'The tables of a World, by the name of the kind in code.',
    type: 'TableOf',
    open: 'openTable',
    hasSettings: true,
    byResource: 'protected byResource',
  },
  'agent-table': {
    name: 'AgentTables',
    doc: 'The tables of the World of a node, by the name of the kind in code.',
    type: 'AgentTableOf',
    open: 'openAgentTable',
    hasSettings: false,
    byResource: 'tablesOfKinds',
  },
};

interface ListedKind {
  readonly folder: string;
  /** In code: `ipPool`. */
  readonly variable: string;
  readonly plural: string;
}

/** Text of each generated file by its name in `src/kinds/generated`. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const kinds = await Promise.all(KINDS.map(listedKind));
  return new Map(PARTS.map((part) => [`${part.file}.ts`, textOf(part, kinds)]));
}

async function listedKind(folder: string): Promise<ListedKind> {
  const { resource } = (await import(pathToFileURL(join(KINDS_FOLDER, folder, 'resource.ts')).href)) as {
    readonly resource: { readonly plural: string };
  };
  return { folder, variable: inCode(folder), plural: resource.plural };
}

/** `ip-pool` as `ipPool`. */
function inCode(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function textOf(part: Part, all: readonly ListedKind[]): string {
  const kinds = all.filter(({ folder }) => existsSync(join(KINDS_FOLDER, folder, `${part.name}.ts`)));
  const tables = CLASSES[part.name];
  return [
    `/** Part \`${part.name}\` of each kind, by resource. Generated from ../list.ts by \`npm run --silent kinds\`: do not edit. */`,
    ...(IMPORTS[part.name] ?? []),
    ...kinds.map(({ folder, variable }) => `import { ${inCode(part.name)} as ${variable} } from '../${folder}/${part.name}.ts';`),
    '',
    `export const ${part.constant} = {`,
    ...kinds.map(({ plural, variable }) => entry(plural, variable)),
    '} as const;',
    '',
    ...(tables === undefined ? [] : classOfTables(tables, kinds)),
  ].join('\n');
}

function classOfTables({ name, doc, type, open, hasSettings, byResource }: ClassOfTables, kinds: readonly ListedKind[]): readonly string[] {
  const settings = (text: string): readonly string[] => (hasSettings ? [text] : []);
  return [
    `/** ${doc} */`,
    `export class ${name} extends AnyWorld {`,
    ...settings('  readonly settings: Settings;'),
    ...kinds.map(({ variable }) => `  readonly ${variable}s: ${type}<typeof ${variable}>;`),
    '',
    `  constructor(${hasSettings ? 'reactor: Reactor, settings: Settings' : ''}) {`,
    `    super(${hasSettings ? 'reactor' : ''});`,
    ...settings('    this.settings = settings;'),
    ...kinds.map(
      ({ variable, plural }) =>
        `    this.${variable}s = ${open}(${hasSettings ? 'reactor' : 'this.reactor'}, '${plural}', ${variable}${hasSettings ? ', settings' : ''});`,
    ),
    '  }',
    '',
    '  /** By resource. */',
    `  ${byResource}() {`,
    '    return {',
    ...kinds.map(({ variable, plural }) => `    ${entry(plural, `this.${variable}s`)}`),
    '    };',
    '  }',
    '}',
    '',
  ];
}

function entry(plural: string, variable: string): string {
  if (plural === variable) return `  ${plural},`;
  return `  ${/^\w+$/.test(plural) ? plural : `'${plural}'`}: ${variable},`;
}
