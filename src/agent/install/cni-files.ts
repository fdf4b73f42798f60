/**
 * Puts the CNI plugin and its configuration on a node. Each file is written beside its place and renamed, so that a runtime never sees half of one;
 * the configuration comes last, since a runtime that sees it calls the plugin.
 */
import { chmod, copyFile, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

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
  /** The plugin's file. */
  readonly plugin: string;
}

/** The names by which configurations call the plugin: its own, and that of Kube-OVN in NetworkAttachmentDefinitions. */
const NAMES = ['kiln-cni', 'kube-ovn'] as const;

/**
 * What equals what is there is left alone.
 *
 * @returns the files that were written
 * @throws Error of the file system
 */
export async function installCniFiles({ plugin, binaries, configurations, socket, priority }: CniFilesOptions): Promise<readonly string[]> {
  const written: string[] = [];
  await mkdir(binaries, { recursive: true });
  await mkdir(configurations, { recursive: true });
  for (const name of NAMES) {
    const file = join(binaries, name);
    if (await sameContents(plugin, file)) continue;
    await replace(file, (beside) => copyFile(plugin, beside), 0o755);
    written.push(file);
  }
  const file = join(configurations, `${priority}-kube-ovn.conflist`);
  const text = textOf(socket);
  if ((await readFile(file, 'utf8').catch(() => undefined)) !== text) {
    await replace(file, (beside) => writeDurably(beside, text), 0o600);
    written.push(file);
  }
  return written;
}

/**
 * The files that `installCniFiles` made, the configuration first. What differs from what it would write is another program's: Kube-OVN's
 * plugin has one of the names.
 */
export async function cniFiles(
  { binaries, configurations, socket, priority }: CniPlaces,
  read: (file: string) => Promise<Buffer | undefined>,
): Promise<readonly string[]> {
  const [own, other] = NAMES.map((name) => join(binaries, name));
  const conflist = join(configurations, `${priority}-kube-ovn.conflist`);
  const files = (await read(conflist))?.toString('utf8') === textOf(socket) ? [conflist] : [];
  const plugin = own === undefined ? undefined : await read(own);
  if (own === undefined || other === undefined || plugin === undefined) return files;
  const same = (await read(other))?.equals(plugin) === true;
  return [...files, ...(same ? [other] : []), own];
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

/** Runtimes read no file whose name begins with a point. */
async function replace(file: string, write: (beside: string) => Promise<unknown>, mode: number): Promise<void> {
  const beside = join(file, '..', `.${file.slice(file.lastIndexOf('/') + 1)}.new`);
  await rm(beside, { force: true });
  try {
    await write(beside);
    await chmod(beside, mode);
    await rename(beside, file);
  } catch (error) {
    // Of a full disk it would take the rest.
    await rm(beside, { force: true });
    throw new Error(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
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
  const sizes = await Promise.all([stat(one), stat(other).catch(() => undefined)]);
  if (sizes[0].size !== sizes[1]?.size) return false;
  const [a, b] = await Promise.all([readFile(one), readFile(other)]);
  return a.equals(b);
}
