/** Files of the CNI plugin on a node: whole at every moment, and left alone where they are right. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { installCniFiles } from './cni-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-cni-files-'));
  writeFileSync(join(folder, 'plugin'), '#!/bin/sh\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const install = (socket = '/run/agent.sock'): Promise<readonly string[]> =>
  installCniFiles({
    plugin: join(folder, 'plugin'),
    binaries: join(folder, 'bin'),
    configurations: join(folder, 'net.d'),
    socket,
    priority: '01',
  });

test('N09: both names of the plugin, and last the configuration, for root alone', async () => {
  const files = ['bin/kiln-cni', 'bin/kube-ovn', 'net.d/01-kube-ovn.conflist'].map((name) => join(folder, name));
  assert.deepEqual(await install(), files);
  assert.deepEqual(readdirSync(join(folder, 'bin')), ['kiln-cni', 'kube-ovn']);
  assert.equal(statSync(join(folder, 'bin/kube-ovn')).mode & 0o777, 0o755);
  const [, , configuration = ''] = files;
  assert.equal(statSync(configuration).mode & 0o777, 0o600);
  assert.partialDeepStrictEqual(JSON.parse(readFileSync(configuration, 'utf8')), {
    plugins: [{ type: 'kube-ovn', server_socket: '/run/agent.sock' }],
  });
  assert.deepEqual(await install(), [], 'nothing to do the second time');
});

test('N09: a broken or older file is replaced, and a leftover of a killed installer does not matter', async () => {
  await install();
  writeFileSync(join(folder, 'bin/kube-ovn'), '#!/bin');
  writeFileSync(join(folder, 'bin/.kube-ovn.new'), 'half');
  writeFileSync(join(folder, 'net.d/01-kube-ovn.conflist'), '{"name":');
  assert.deepEqual(await install(), [join(folder, 'bin/kube-ovn'), join(folder, 'net.d/01-kube-ovn.conflist')]);
  assert.equal(readFileSync(join(folder, 'bin/kube-ovn'), 'utf8'), '#!/bin/sh\n');
  assert.deepEqual(readdirSync(join(folder, 'net.d')), ['01-kube-ovn.conflist']);
});
