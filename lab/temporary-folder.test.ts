import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeTemporaryFolder } from './temporary-folder.ts';

const MODULE = JSON.stringify(join(import.meta.dirname, 'temporary-folder.ts'));

test('the next process removes the folder of a killed one; folders of running processes, and other folders, stay', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'kiln-temporary-'));
  t.after(() => rm(parent, { recursive: true }));
  const killed = spawnSync(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { makeTemporaryFolder } from ${MODULE};
       import { writeFileSync } from 'node:fs';
       const folder = await makeTemporaryFolder('lab-', ${JSON.stringify(parent)});
       writeFileSync(folder + '/nb.db', 'rows');
       process.stdout.write(folder);
       process.kill(process.pid, 'SIGKILL');`,
    ],
    { encoding: 'utf8' },
  );
  assert.equal(killed.signal, 'SIGKILL');
  const left = killed.stdout;
  assert.ok(existsSync(join(left, 'nb.db')));
  for (const name of ['lab-unmarked', 'other']) await mkdir(join(parent, name));
  await writeFile(join(parent, 'other', 'owner.pid'), '999999999');
  const first = await makeTemporaryFolder('lab-', parent);
  const second = await makeTemporaryFolder('lab-', parent);
  assert.deepEqual(
    [left, first, second, join(parent, 'lab-unmarked'), join(parent, 'other')].map((folder) => existsSync(folder)),
    [false, true, true, true, true],
  );
});
