/** The licences of packages ask that their texts go with every copy, so also with a built program. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { ROOT } from './programs.ts';

/** Writes the licence of each package of which something is in a built program. @throws Error if a package has no licence file */
export async function writeLicenses({ outputs }: Metafile, file: string): Promise<void> {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const texts = await Promise.all([...folders].toSorted().map((folder) => licenseOf(join(ROOT, folder))));
  await writeFile(file, texts.join('\n'));
}

async function licenseOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Readonly<Record<string, string>>;
  const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`package ${name} has no licence file in ${folder}`);
  return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
}
