/**
 * Prints the manifest by which Krew installs `kubectl kiln` from an archive that `npm pack` made:
 *
 *   npm run --silent krew -- kiln-0.1.0.tgz https://where.it.is/kiln-0.1.0.tgz > kiln.yaml
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { krewManifest } from './build/krew-manifest.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const [archive, uri] = positionals;
if (archive === undefined || uri === undefined) {
  console.error('say which archive, and from where it is to be fetched: npm run --silent krew -- kiln-0.1.0.tgz https://…/kiln-0.1.0.tgz');
  process.exitCode = 2;
} else {
  process.stdout.write(krewManifest({ archive: readFileSync(archive), uri }));
}
