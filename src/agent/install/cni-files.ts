/**
 * Puts the CNI plugin and its configuration on a node. Each file is written beside its place and renamed, so that a runtime never sees half of one;
 * the configuration comes last, since a runtime that sees it calls the plugin.
 */
import { copyFile, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { installedReferencePlugins, installReferencePlugins } from './reference-plugins.ts';
import { replaceFile } from './replace-file.ts';

export interface CniPlaces {
  /** Of the runtime: `/opt/cni/bin`. */
  readonly binaries: string;
  /** Of the runtime: `/etc/cni/net.d`. */
  readonly configurations: string;
  readonly socket: string;
  /** The runtime uses the first file by name. */
  readonly priority: string;
}

export interface CniFilesOptions extends CniPlaces {
  /** Folder of the reference plugins, which the runtime needs beside ours. Missing: they are left to others. */
  readonly referencePlugins?: string;
  /** Another plugin is the runtime's, and calls ours by its name for attachments: it has no configuration of its own. */
  readonly nonPrimaryCniMode?: boolean;
  /** The plugin's file. */
  readonly plugin: string;
}

/** The names by which configurations call the plugin: that of Kube-OVN in NetworkAttachmentDefinitions, and its own. */
const [KUBE_OVN, OWN] = ['kube-ovn', 'kiln-cni'] as const;

/**
 * What equals what is there is left alone. Kube-OVN has the same names: what another program has there is copied first, to a file beside it.
 *
 * @returns the files that were written
 * @throws Error of the file system
 */
export async function installCniFiles({
  plugin,
  referencePlugins,
  nonPrimaryCniMode,
  ...places
}: CniFilesOptions): Promise<readonly string[]> {
  const { binaries, configurations, socket } = places;
  const written: string[] = [];
  await mkdir(binaries, { recursive: true });
  await mkdir(configurations, { recursive: true });
  if (referencePlugins !== undefined && nonPrimaryCniMode !== true)
    written.push(...(await installReferencePlugins(referencePlugins, binaries)));
  // The own one comes last: by it an older one with the other name is known.
  for (const file of [KUBE_OVN, OWN].map((name) => join(binaries, name))) {
    if (await sameContents(plugin, file)) continue;
    if (file.endsWith(KUBE_OVN) && (await isForeign(file, join(binaries, OWN)))) written.push(...(await keep(file)));
    await replaceFile(file, (beside) => copyFile(plugin, beside), 0o755);
    written.push(file);
  }
  const file = configurationFile(places);
  if (nonPrimaryCniMode === true) {
    const former = await readFile(file, 'utf8').catch(() => undefined);
    if (former === undefined || ownerOf(former) !== 'kiln') return written;
    const isKept = (await stat(copyOf(file)).catch(() => undefined)) !== undefined;
    await takeBack({ path: file, ...(isKept && { before: copyOf(file) }) });
    return [...written, file];
  }
  const [present, text] = [await readFile(file, 'utf8').catch(() => undefined), textOf(socket)];
  if (present !== text) {
    if (present !== undefined && ownerOf(present) === 'another') written.push(...(await keep(file)));
    await replaceFile(file, (beside) => writeDurably(beside, text), 0o600);
    written.push(file);
  }
  return written;
}

/** A file of the node that `installCniFiles` wrote. */
export interface InstalledFile {
  readonly path: string;
  /** Of what another program had there: it comes back. Missing: there was nothing. */
  readonly before?: string;
  /** It is another program's again: the copy alone goes. */
  readonly isForeign?: true;
}

/**
 * The files that `installCniFiles` made, in the order in which they go: no runtime calls a plugin that is gone, or that of another program
 * before it is back. What differs from what it would write is another program's.
 */
export async function cniFiles(places: CniPlaces, read: (file: string) => Promise<Buffer | undefined>): Promise<readonly InstalledFile[]> {
  const [other, own, conflist] = [join(places.binaries, KUBE_OVN), join(places.binaries, OWN), configurationFile(places)];
  const plugin = await read(own);
  const text = (await read(conflist))?.toString('utf8');
  const found = async (path: string, isOurs: boolean): Promise<readonly InstalledFile[]> => {
    const before = (await read(copyOf(path))) === undefined ? {} : { before: copyOf(path) };
    if (isOurs) return [{ path, ...before }];
    return before.before === undefined ? [] : [{ path, ...before, isForeign: true }];
  };
  const configuration = await found(conflist, text !== undefined && ownerOf(text) === 'kiln');
  const plugins = [
    // An installer that was killed left the first of the two alone.
    ...(await found(
      other,
      plugin === undefined ? (await read(copyOf(other))) !== undefined : (await read(other))?.equals(plugin) === true,
    )),
    ...(plugin === undefined ? [] : [{ path: own }]),
    ...(await installedReferencePlugins(places.binaries, read)).map((path) => ({ path })),
  ];
  return configuration.some(({ before }) => before !== undefined) ? [...plugins, ...configuration] : [...configuration, ...plugins];
}

/** Takes a file away, or gives back what was there. @throws Error of the file system */
export async function takeBack({ path, before, isForeign }: InstalledFile): Promise<void> {
  if (before === undefined || isForeign === true) await rm(before ?? path, { force: true });
  else await rename(before, path);
}

function configurationFile({ configurations, priority }: CniPlaces): string {
  return join(configurations, `${priority}-kube-ovn.conflist`);
}

/** Runtimes read no file whose name begins with a point. */
function copyOf(file: string): string {
  return join(file, '..', `.${basename(file)}.before-kiln`);
}

/** Whether a plugin is another program's, by our own one, which is written after it. */
async function isForeign(file: string, own: string): Promise<boolean> {
  const exists = async (one: string): Promise<boolean> => (await stat(one).catch(() => undefined)) !== undefined;
  return (await exists(own)) ? !(await sameContents(file, own)) : !(await exists(copyOf(file)));
}

/** @returns the copy; empty if there is nothing to copy */
async function keep(file: string): Promise<readonly string[]> {
  const present = await stat(file).catch(() => undefined);
  if (present === undefined) return [];
  const copy = copyOf(file);
  await replaceFile(copy, (beside) => copyFile(file, beside), present.mode & 0o777);
  return [copy];
}

/** Whose configuration it is: this program's, also for another socket, or that of another one. Kube-OVN's has the same fields in another form. */
function ownerOf(text: string): 'kiln' | 'another' | 'none' {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'none';
  }
  const { plugins } = Object(parsed) as { readonly plugins?: unknown };
  const [first] = Array.isArray(plugins) ? (plugins as readonly unknown[]) : [];
  const { server_socket: socket } = Object(first) as { readonly server_socket?: unknown };
  return text === textOf(String(socket)) ? 'kiln' : 'another';
}

function textOf(socket: string): string {
  return `${JSON.stringify(configuration(socket), undefined, 2)}\n`;
}

/** As Kube-OVN has it: `portmap` carries out hostPort. */
function configuration(socket: string): object {
  return {
    name: 'kube-ovn',
    cniVersion: '1.0.0',
    plugins: [
      { type: 'kube-ovn', server_socket: socket },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

/** The contents are on the disk before the name is. */
async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The size differs with nearly every change, and is asked first: the plugin is large. */
async function sameContents(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((file) => stat(file).catch(() => undefined)));
  if (first === undefined || first.size !== second?.size) return false;
  const [a, b] = await Promise.all([readFile(one), readFile(other)]);
  return a.equals(b);
}
