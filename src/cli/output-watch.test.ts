import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';

const WATCHER = `import { watchOutput } from ${JSON.stringify(join(import.meta.dirname, 'output-watch.ts'))};
  watchOutput(() => process.exit(7));
  setInterval(() => process.stdout.write('on\\n'), 5);
  setTimeout(() => process.exit(3), 60_000);`;

test('a process whose reader has gone is told, and ends as it sees fit', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', WATCHER], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.equal(code, 7);
});
