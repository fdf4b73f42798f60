import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { findKubernetesProgram, KUBERNETES_BUILDS, kubernetesBuildDirectory, type KubernetesProgram } from './kubernetes.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-programs-'));
});
after(async () => {
  await rm(folder, { recursive: true });
});

const place = async (...paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '#!/bin/sh\n', { mode: 0o755 });
  }
};

test('of two builds the current one is found, with its own etcd; TEST_KUBERNETES names the other', async () => {
  const env = { KILN_CACHE: join(folder, 'cache'), PATH: join(folder, 'bin') };
  const inBuild = (build: 'current' | 'oldest', program: string): string => join(kubernetesBuildDirectory(build, env), program);
  const find = (program: KubernetesProgram, build?: string): string | undefined =>
    findKubernetesProgram(program, { ...env, ...(build === undefined ? {} : { TEST_KUBERNETES: build }) });

  await place(inBuild('oldest', 'kube-apiserver'), join(folder, 'bin/etcd'));
  assert.equal(find('kube-apiserver'), inBuild('oldest', 'kube-apiserver'));
  assert.equal(find('kube-apiserver', 'current'), undefined);
  assert.equal(find('etcd'), join(folder, 'bin/etcd'));

  await place(inBuild('current', 'kube-apiserver'), inBuild('current', 'etcd'));
  assert.equal(find('kube-apiserver'), inBuild('current', 'kube-apiserver'));
  assert.equal(find('etcd'), inBuild('current', 'etcd'));
  assert.equal(find('kube-apiserver', 'oldest'), inBuild('oldest', 'kube-apiserver'));
  assert.equal(find('etcd', 'oldest'), join(folder, 'bin/etcd'));
  assert.throws(() => find('etcd', '1.20'), /^RangeError: TEST_KUBERNETES is "1.20", not one of current, oldest$/);

  await place(join(folder, 'bin/kube-apiserver'));
  assert.equal(find('kube-apiserver'), join(folder, 'bin/kube-apiserver'));
  assert.equal(find('etcd'), join(folder, 'bin/etcd'));
  assert.equal(find('kube-apiserver', 'current'), inBuild('current', 'kube-apiserver'));
});

test('the version that names the build is the one that the Go module requires, with its staging modules', async () => {
  const module = await readFile('scripts/setup/kubernetes-module/go.mod', 'utf8');
  const { version } = KUBERNETES_BUILDS.current;
  assert.ok(module.includes(`\tk8s.io/kubernetes v${version}`), version);
  const replaced = [...module.matchAll(/^\tk8s\.io\/(\S+) => k8s\.io\/\1 v(\S+)$/gm)];
  assert.ok(replaced.length > 25, `${replaced.length}`);
  for (const [line, , staging] of replaced) assert.equal(staging, version.replace(/^1/, '0'), line);
});
