import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openPrivate } from '../../runtime/private-file.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { readMetricsToken } from '../process/operations.ts';
import { warnOfReadableSecrets } from './secret-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'kiln-modes-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const file = (name: string, text: string, mode: number): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};

test('a file with a secret that every user may read is named with its mode and what to do; others are not', () => {
  const warnings: unknown[] = [];
  const log: Log = { ...SILENT, warn: (_, fields) => warnings.push([fields?.['flag'], fields?.['mode']]) };
  warnOfReadableSecrets(
    { ovnKey: file('loose', 'k', 0o444), webhookKey: file('tight', 'k', 0o440), metricsTokenFile: join(directory, 'none') },
    log,
  );
  assert.deepEqual(warnings, [['--ovn-key', '0444']]);
});

test('a log is for its owner alone, also where an earlier run left one for all', () => {
  const path = file('kiln.log', 'before\n', 0o644);
  const opened = openPrivate(path, 'a');
  writeSync(opened, 'after\n');
  closeSync(opened);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  closeSync(openPrivate(join(directory, 'new.log'), 'w'));
  assert.equal(statSync(join(directory, 'new.log')).mode & 0o777, 0o600);
});

test('a token of metrics is one word of some length; its error names the flag and the file', () => {
  assert.equal(readMetricsToken(file('token', 'a-token-of-enough-length\n', 0o600)), 'a-token-of-enough-length');
  for (const text of ['', 'short', 'two words that are long enough'])
    assert.throws(
      () => readMetricsToken(file('bad', text, 0o600)),
      /^Error: --metrics-token-file \S+bad holds no token: one word of at least 16/,
    );
  assert.throws(() => readMetricsToken(join(directory, 'none')), /--metrics-token-file \S+none cannot be read/);
});
