import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const WATCHER = `import { watchOutput } from ${JSON.stringify(join(import.meta.dirname, 'output-watch.ts'))};
  watchOutput(() => process.exit(7));
  setInterval(() => process.stdout.write('on\\n'), 5);
  setTimeout(() => process.exit(3), 60_000);`;

const MAIN = join(import.meta.dirname, '../main.ts');

test('output that cannot be written ends a command with a sentence, and in silence where its reader has gone', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('this host has no /dev/full');
  const full = spawnSync('sh', ['-c', '"$0" "$1" config -o yaml > /dev/full', process.execPath, MAIN], { encoding: 'utf8' });
  assert.deepEqual(
    [full.status, full.stderr],
    [3, 'error: the output of kiln config cannot be written\n  why: ENOSPC: no space left on device, write\n  next: df -h\n'],
  );
  const child = spawn(process.execPath, [MAIN, 'config'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let output = '';
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.deepEqual([code, output], [141, '']);
});

test('a process whose reader has gone gets an event, and decides how to end', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WATCHER], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 7);
});
