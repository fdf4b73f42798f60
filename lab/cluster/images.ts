/** Container images made by hand, in the format of `docker save`: there is no registry. */
import { createHash } from 'node:crypto';
import { copyFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runProgram } from '../programs/run-program.ts';

export interface Image {
  /** `kiln.local/busybox:1` */
  readonly name: string;
  /** The archive, for `ctr image import`. */
  readonly archive: string;
}

const FOLDERS = ['bin', 'dev', 'etc', 'proc', 'run', 'sys', 'tmp', 'var'] as const;
/** Ends at once when it is told to: a shell that is the first process ignores SIGTERM otherwise. */
const WAIT = ['/bin/sh', '-c', 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'] as const;

/** An image with a shell, `ping`, `nc`, `httpd` and `nslookup`; its command waits for its end. Also used as the sandbox of pods. */
export async function busyboxImage(program: string, folder: string): Promise<Image> {
  return await makeImage('kiln.local/busybox:1', folder, { Cmd: WAIT }, async (root) => {
    await copyFile(program, join(root, 'bin/busybox'));
    const applets = (await runProgram([program, '--list'])).split('\n').filter((name) => name !== '' && name !== 'busybox');
    for (const name of applets) await symlink('busybox', join(root, 'bin', name));
    await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
  });
}

/** An image with one program that needs no library. */
export async function programImage(name: string, program: string, folder: string): Promise<Image> {
  return await makeImage(`kiln.local/${name}:1`, folder, { Entrypoint: [`/bin/${name}`] }, (root) =>
    copyFile(program, join(root, 'bin', name)),
  );
}

export interface HostImage {
  /** With its registry: `docker.io/library/kiln-ovn:0.1.0` */
  readonly name: string;
  /** Programs of this host, which come with the libraries that they need. */
  readonly programs: readonly string[];
  /** Files and folders by their places in the image. */
  readonly files: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
}

/** An image of programs of this host, as a distribution's packages would give it. */
export async function hostImage({ name, programs, files, entrypoint }: HostImage, folder: string): Promise<Image> {
  return await makeImage(name, folder, { Entrypoint: entrypoint }, async (root) => {
    const libraries = new Set<string>();
    for (const program of programs) {
      await copyFile(program, join(root, 'bin', basename(program)));
      const linked = await runProgram(['ldd', program]);
      for (const [path] of linked.matchAll(/\/\S+(?= \(0x)/g)) libraries.add(path);
    }
    for (const library of libraries) {
      await mkdir(join(root, dirname(library)), { recursive: true });
      await copyFile(library, join(root, library));
    }
    for (const [place, source] of Object.entries(files)) await cp(source, join(root, place), { recursive: true });
    await symlink('../run', join(root, 'var/run'));
    await writeFile(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
  });
}

async function makeImage(
  name: string,
  parent: string,
  command: { readonly Cmd?: readonly string[]; readonly Entrypoint?: readonly string[] },
  fill: (root: string) => Promise<void>,
): Promise<Image> {
  const folder = join(parent, name.replaceAll(/\W/g, '-'));
  const root = join(folder, 'root');
  for (const one of FOLDERS) await mkdir(join(root, one), { recursive: true });
  await fill(root);
  const layer = join(folder, 'layer.tar');
  await runProgram(['tar', '--create', '--file', layer, '--owner=0', '--group=0', '--directory', root, '.']);
  const digest = createHash('sha256')
    .update(await readFile(layer))
    .digest('hex');
  const config = {
    architecture: { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch,
    os: 'linux',
    config: { ...command, Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]));
  const archive = `${folder}.tar`;
  await runProgram(['tar', '--create', '--file', archive, '--directory', folder, 'config.json', 'manifest.json', 'layer.tar']);
  await rm(folder, { recursive: true });
  return { name, archive };
}
