/**
 * Where the network of each pod is: a file `sandboxes/NAMESPACE/POD.json` in the laboratory's folder, so that a command finds it without a
 * server.
 */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../directory-claim.ts';

const FOLDER = 'sandboxes';

/** What the file of a pod says. */
export type SandboxPlace =
  /** `path` is that of its network namespace. */
  | { readonly kind: 'running'; readonly path: string; readonly node: string }
  /** It has a node, and no network yet. */
  | { readonly kind: 'starting'; readonly node: string; readonly failure?: string };

/** A pod by its name. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** The answer about a pod. */
export type FoundPlace = SandboxPlace | { readonly kind: 'no-laboratory' } | { readonly kind: 'no-packets' } | { readonly kind: 'no-pod' };

export class SandboxFiles {
  readonly #folder: string;

  /** @param directory the laboratory's folder */
  constructor(directory: string) {
    this.#folder = join(directory, FOLDER);
  }

  /** Makes the folder without the files of an earlier laboratory. */
  async create(): Promise<void> {
    await this.delete();
    await mkdir(this.#folder, { mode: 0o700 });
  }

  async delete(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async write(pod: PodName, place: SandboxPlace): Promise<void> {
    await mkdir(join(this.#folder, pod.namespace), { recursive: true });
    await writeFile(this.#file(pod), JSON.stringify(place));
  }

  async remove(pod: PodName): Promise<void> {
    await rm(this.#file(pod), { force: true });
  }

  async read(pod: PodName): Promise<SandboxPlace | undefined> {
    const text = await readFile(this.#file(pod), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : (JSON.parse(text) as SandboxPlace);
  }

  async exists(): Promise<boolean> {
    return (await stat(this.#folder).catch(() => undefined)) !== undefined;
  }

  #file({ namespace, name }: PodName): string {
    return join(this.#folder, namespace, `${name}.json`);
  }
}

/** Where the pod's network is, as the laboratory of the folder says. */
export async function placeOf(directory: string, pod: PodName): Promise<FoundPlace> {
  const owner = Number(await readFile(join(directory, 'pid'), 'utf8').catch(() => ''));
  if (!isAlive(owner)) return { kind: 'no-laboratory' };
  const files = new SandboxFiles(directory);
  if (!(await files.exists())) return { kind: 'no-packets' };
  return (await files.read(pod)) ?? { kind: 'no-pod' };
}
