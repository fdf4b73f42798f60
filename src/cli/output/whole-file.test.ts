import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writeWholeFile } from './whole-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'kiln-whole-'));
after(() => rmSync(directory, { recursive: true }));

test('a file that cannot be written leaves the one that was there, and no other; one that can replaces it, with its own mode', async () => {
  const path = join(directory, 'report.html');
  writeFileSync(path, 'of yesterday', { mode: 0o666 });
  const huge = { length: 1 } as unknown as Buffer;
  await assert.rejects(writeWholeFile(path, huge));
  assert.deepEqual([readdirSync(directory), readFileSync(path, 'utf8')], [['report.html'], 'of yesterday']);
  const link = join(directory, 'latest');
  symlinkSync(path, link);
  await writeWholeFile(link, 'of today', 0o600);
  assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], ['of today', 0o600]);
  assert.deepEqual(readdirSync(directory).toSorted(), ['latest', 'report.html']);
  await assert.rejects(writeWholeFile(join(directory, 'none', 'report.html'), ''), { code: 'ENOENT' });
  await writeWholeFile('/dev/null', 'a device stays one');
  assert.ok(statSync('/dev/null').isCharacterDevice());
});
