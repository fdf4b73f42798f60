/** The generated files of `src/kinds/generated`: each names one part of all records, so that a layer finds its parts without the layers above it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { KINDS } from '../../src/kinds/list.ts';
import type { Part } from '../../src/kinds/parts.ts';
import { PARTS } from '../../src/kinds/parts.ts';

const KINDS_FOLDER = join(import.meta.dirname, '..', '..', 'src', 'kinds');

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
  return { folder, variable: folder.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()), plural: resource.plural };
}

function textOf(part: Part, all: readonly ListedKind[]): string {
  const kinds = all.filter(({ folder }) => existsSync(join(KINDS_FOLDER, folder, `${part.name}.ts`)));
  return [
    `/** Part \`${part.name}\` of each kind, by resource. Generated from ../list.ts by \`npm run --silent kinds\`: do not edit. */`,
    ...kinds.map(({ folder, variable }) => `import { ${part.name} as ${variable} } from '../${folder}/${part.name}.ts';`),
    '',
    `export const ${part.constant} = {`,
    ...kinds.map(({ plural, variable }) => entry(plural, variable)),
    '} as const;',
    '',
  ].join('\n');
}

function entry(plural: string, variable: string): string {
  if (plural === variable) return `  ${plural},`;
  return `  ${/^\w+$/.test(plural) ? plural : `'${plural}'`}: ${variable},`;
}
