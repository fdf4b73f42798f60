/** Files of the CNI plugin on a node: whole at every moment, and left alone where they are right. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { cniFiles, installCniFiles, takeBack } from './cni-files.ts';

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
  const files = ['bin/kube-ovn', 'bin/kiln-cni', 'net.d/01-kube-ovn.conflist'].map((name) => join(folder, name));
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
  writeFileSync(join(folder, 'plugin'), '#!/bin/bash\n');
  writeFileSync(join(folder, 'bin/.kube-ovn.new'), 'half');
  writeFileSync(join(folder, 'net.d/01-kube-ovn.conflist'), '{"name":');
  const files = ['bin/kube-ovn', 'bin/kiln-cni', 'net.d/01-kube-ovn.conflist'].map((name) => join(folder, name));
  assert.deepEqual(await install(), files);
  for (const name of ['kube-ovn', 'kiln-cni']) assert.equal(readFileSync(join(folder, 'bin', name), 'utf8'), '#!/bin/bash\n');
  assert.deepEqual(await install('/run/other.sock'), files.slice(2));
  assert.deepEqual(readdirSync(join(folder, 'net.d')), ['01-kube-ovn.conflist']);
});

/** Of both folders, with their contents. */
function contents(): Readonly<Record<string, string>> {
  const names = ['bin', 'net.d'].flatMap((part) => readdirSync(join(folder, part)).map((name) => `${part}/${name}`));
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

async function remove(): Promise<readonly string[]> {
  const places = { binaries: join(folder, 'bin'), configurations: join(folder, 'net.d'), socket: '/run/agent.sock', priority: '01' };
  const files = await cniFiles(places, (file) => readFile(file).catch(() => undefined));
  for (const file of files) await takeBack(file);
  return files.map(({ path, before, isForeign }) => {
    const end = before === undefined ? '' : isForeign === true ? ' stays' : ' comes back';
    return `${basename(path)}${end}`;
  });
}

test('what Kube-OVN had under these names is back after a removal, its plugin before its configuration', async () => {
  for (const part of ['bin', 'net.d']) mkdirSync(join(folder, part));
  writeFileSync(join(folder, 'bin/kube-ovn'), 'ELF of Kube-OVN', { mode: 0o755 });
  writeFileSync(join(folder, 'net.d/01-kube-ovn.conflist'), '{"name": "kube-ovn"}', { mode: 0o644 });
  const before = contents();
  await install();
  // Of an upgrade, which finds our own files.
  writeFileSync(join(folder, 'plugin'), '#!/bin/bash\n');
  await install('/run/other.sock');
  assert.equal(contents()['bin/.kube-ovn.before-kiln'], 'ELF of Kube-OVN');
  assert.deepEqual(await remove(), ['kube-ovn comes back', 'kiln-cni', '01-kube-ovn.conflist comes back']);
  assert.deepEqual(contents(), before);
  assert.equal(statSync(join(folder, 'bin/kube-ovn')).mode & 0o777, 0o755);
  assert.deepEqual(await remove(), []);
});

test('without another program nothing is left, the configuration goes first, and what another one wrote since stays', async () => {
  await install();
  assert.deepEqual(await remove(), ['01-kube-ovn.conflist', 'kube-ovn', 'kiln-cni']);
  assert.deepEqual(contents(), {});
  writeFileSync(join(folder, 'bin/kube-ovn'), 'ELF 1', { mode: 0o755 });
  await install();
  writeFileSync(join(folder, 'bin/kube-ovn'), 'ELF 2', { mode: 0o755 });
  assert.deepEqual(await remove(), ['01-kube-ovn.conflist', 'kube-ovn stays', 'kiln-cni']);
  assert.deepEqual(contents(), { 'bin/kube-ovn': 'ELF 2' });
  await install();
  assert.equal(contents()['bin/.kube-ovn.before-kiln'], 'ELF 2');
});

test('an installer that was killed between the two plugins: an upgrade keeps the copy, and a removal gives it back', async () => {
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/kube-ovn'), 'ELF', { mode: 0o755 });
  const killed = async (): Promise<void> => {
    await install();
    for (const name of ['bin/kiln-cni', 'net.d/01-kube-ovn.conflist']) rmSync(join(folder, name));
  };
  await killed();
  writeFileSync(join(folder, 'plugin'), '#!/bin/bash\n');
  await killed();
  assert.deepEqual(await remove(), ['kube-ovn comes back']);
  assert.deepEqual(contents(), { 'bin/kube-ovn': 'ELF' });
});

test('loopback and portmap come where the runtime has none, are renewed, and go with the rest; those of others are left alone', async () => {
  const [reference, bin] = [join(folder, 'reference'), join(folder, 'bin')];
  const put = (name: string, text: string): void => writeFileSync(join(reference, name), text);
  const placed = async (): Promise<readonly string[]> => {
    const places = { binaries: bin, configurations: join(folder, 'net.d'), socket: '/run/agent.sock', priority: '01' };
    const files = await installCniFiles({ plugin: join(folder, 'plugin'), referencePlugins: reference, ...places });
    return files.map((file) => basename(file)).filter((name) => ['loopback', 'portmap'].includes(name));
  };
  mkdirSync(reference);
  put('loopback', 'one');
  await assert.rejects(
    placed(),
    /CNI plugin portmap is neither in .*bin nor in .*reference, and no pod starts without it: .*--reference-plugins/,
  );
  assert.equal(existsSync(join(folder, 'net.d/01-kube-ovn.conflist')), false, 'the runtime is not ready before');
  put('portmap', 'one');
  // As in k3s: it leads to where the container does not see it.
  rmSync(join(bin, 'loopback'));
  rmSync(join(bin, '.loopback.of-kiln'));
  symlinkSync('/nowhere/cni', join(bin, 'loopback'));
  assert.deepEqual(await placed(), ['portmap']);
  assert.equal(readlinkSync(join(bin, 'loopback')), '/nowhere/cni');
  assert.deepEqual(await placed(), []);
  put('portmap', 'newer');
  assert.deepEqual(await placed(), ['portmap']);
  assert.equal(readFileSync(join(bin, 'portmap'), 'utf8'), 'newer');
  assert.equal(statSync(join(bin, 'portmap')).mode & 0o777, 0o755);
  // Somebody's own one is no longer ours.
  writeFileSync(join(bin, 'portmap'), 'of the distribution');
  assert.deepEqual(await placed(), []);
  await remove();
  assert.deepEqual(readdirSync(bin).toSorted(), ['loopback', 'portmap']);
  rmSync(join(bin, 'portmap'));
  assert.deepEqual(await placed(), ['portmap']);
  await remove();
  assert.deepEqual(readdirSync(bin), ['loopback']);
});

test('beside another primary plugin the runtime keeps its configuration: ours is not written, one from before goes, what was there comes back', async () => {
  const [bin, conf] = [join(folder, 'bin'), join(folder, 'net.d')];
  const placed = (nonPrimaryCniMode: boolean): Promise<readonly string[]> =>
    installCniFiles({
      ...{ plugin: join(folder, 'plugin'), binaries: bin, configurations: conf, socket: '/run/agent.sock', priority: '01' },
      ...{ referencePlugins: join(folder, 'nowhere'), nonPrimaryCniMode },
    });
  assert.deepEqual(
    (await placed(true)).map((file) => basename(file)),
    ['kube-ovn', 'kiln-cni'],
  );
  assert.deepEqual(readdirSync(conf), []);
  const others = {
    '05-cilium.conflist': '{"name":"cilium"}',
    '01-kube-ovn.conflist': '{"name":"kube-ovn","plugins":[{"type":"kube-ovn"}]}',
  };
  for (const [name, text] of Object.entries(others)) writeFileSync(join(conf, name), text);
  await placed(true);
  await install();
  assert.notEqual(readFileSync(join(conf, '01-kube-ovn.conflist'), 'utf8'), others['01-kube-ovn.conflist']);
  await placed(true);
  assert.deepEqual(Object.fromEntries(readdirSync(conf).map((name) => [name, readFileSync(join(conf, name), 'utf8')])), others);
});
