import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeParametersWritable } from './writable-parameters.ts';

test('parameters that cannot be written are mounted again; a failure names what the container lacks', async () => {
  const ran: (readonly string[])[] = [];
  const programs = (ok: boolean) => ({
    run: (command: readonly string[]) => {
      ran.push(command);
      return Promise.resolve(ok ? { ok, output: '' } : { ok, message: 'permission denied' });
    },
  });
  await makeParametersWritable(programs(true), import.meta.filename);
  assert.deepEqual(ran, [], 'they are writable');
  await makeParametersWritable(programs(true), '/nowhere/at/all');
  assert.deepEqual(ran, [['mount', '-o', 'remount,bind,rw', '/proc/sys']]);
  await assert.rejects(makeParametersWritable(programs(false), '/nowhere/at/all'), /permission denied.*SYS_ADMIN/);
});
