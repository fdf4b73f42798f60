import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

test('a controller, which sets flags of V8, has a compile cache of its own: no command rejects what another compiled', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'kiln-compiled-'));
  try {
    const main = fileURLToPath(new URL('main.ts', import.meta.url));
    const { NODE_COMPILE_CACHE: _mine, ...env } = process.env;
    const run = (command: string): Promise<unknown> =>
      promisify(execFile)(process.execPath, [main, command, '--help'], { env: { ...env, XDG_CACHE_HOME: cache } });
    const folders = (): Promise<string[]> => readdir(join(cache, 'kiln', 'compiled'));
    for (const command of ['plan', 'explain', 'history']) await run(command);
    assert.equal((await folders()).length, 1);
    await run('start');
    assert.equal((await folders()).length, 2);
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
});
