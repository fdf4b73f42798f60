/**
 * Folders of the pure core. Their tests have no server, clock or environment of their own, so many files share a process: a process for
 * each spends two thirds of its time on loading and compiling the same sources again.
 */
const PURE: readonly string[] = [
  'allocate',
  'api',
  'blockers',
  'compile',
  'diff',
  'explain',
  'ipam',
  'kinds',
  'match-language',
  'nb',
  'net',
  'text',
  'world',
];
/** Enough that the sources are compiled seldom, and few enough that a batch does not run alone in the end. */
const MOST_FILES = 15;

/** Test files that one process runs. */
export interface Batch {
  /** "src/compile (2 of 6)", or the file if it is alone. */
  readonly name: string;
  readonly files: readonly string[];
}

/** @param aside files that have a process of their own in any case */
export function batches(files: readonly string[], aside: (file: string) => boolean): readonly Batch[] {
  const own = files.filter((file) => folderOf(file) === undefined || aside(file));
  const shared = Object.entries(
    Object.groupBy(
      files.filter((file) => !own.includes(file)),
      (file) => folderOf(file) ?? '',
    ),
  );
  return [...own.map((file) => ({ name: file, files: [file] })), ...shared.flatMap(([folder, of = []]) => parts(folder, of))];
}

function parts(folder: string, files: readonly string[]): readonly Batch[] {
  const count = Math.ceil(files.length / MOST_FILES);
  // Every count-th file: what lies side by side is often equally slow.
  return Array.from({ length: count }, (_, at) => ({
    name: count === 1 ? folder : `${folder} (${at + 1} of ${count})`,
    files: files.filter((_file, index) => index % count === at),
  }));
}

function folderOf(file: string): string | undefined {
  const name = /^src\/([^/]+)\//.exec(file)?.[1];
  return name !== undefined && PURE.includes(name) ? `src/${name}` : undefined;
}
