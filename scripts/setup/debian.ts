import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from '../../lab/programs/executable.ts';
import { SetupError } from './report.ts';
import { run } from './run.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

function hasApt(): boolean {
  return onPath('apt-get') !== undefined;
}

/** Installs packages, or throws a `SetupError` that names them and what they are for. */
export async function installPackages(packages: readonly string[], purpose: string): Promise<void> {
  const command = `apt-get install --no-install-recommends ${packages.join(' ')}`;
  if (!hasApt()) throw new SetupError(`${purpose} is missing: install the equivalents of the Debian packages ${packages.join(', ')}`);
  if (process.getuid?.() !== 0) throw new SetupError(`${purpose} is missing: run \`sudo ${command}\`, then this again`);
  if (!listsAreFresh) await aptGet(['update'], 'updating the package lists (apt-get update)');
  listsAreFresh = true;
  await aptGet(['install', '-y', '--no-install-recommends', ...packages], `installing ${packages.join(', ')}`);
}

let listsAreFresh = false;

async function aptGet(args: readonly string[], what: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-apt-'));
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { what, log: join(folder, 'log'), env });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An archive this host takes packages from, as its own apt configuration names it. */
interface Archive {
  readonly uri: string;
  readonly release: string;
  readonly component: string;
}

/** The archives in the machine's apt configuration. */
export function archives(): readonly Archive[] {
  if (!hasApt()) return [];
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)';
  const result = spawnSync('apt-get', ['indextargets', '--format', format, 'Identifier: Packages'], { encoding: 'utf8' });
  return result.stdout
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([uri, release, component]) => (uri && release && component ? [{ uri, release, component }] : []));
}

/** The archive of Debian's releases, as configured on this host; undefined on other systems. */
export function debianArchive(): Archive | undefined {
  if (!existsSync(KEYRING)) return undefined;
  return archives().find(({ uri, release, component }) => component === 'main' && !release.includes('-') && /\bdebian\b/.test(uri));
}

/**
 * An apt of its own: sources, lists, cache and installed state all lie in `folder`, so nothing of the machine's
 * configuration is touched and no root is needed. Its sources are `lines` of the one-line format without their options.
 */
export class PrivateApt {
  readonly #folder: string;
  readonly #options: readonly string[];

  /** `installed`: whether packages that the machine has count as installed; else every dependency is fetched. */
  constructor(folder: string, lines: readonly { readonly type: 'deb' | 'deb-src'; readonly archive: Archive }[], installed: boolean) {
    this.#folder = folder;
    mkdirSync(join(folder, 'lists/partial'), { recursive: true });
    mkdirSync(join(folder, 'archives/partial'), { recursive: true });
    writeFileSync(
      join(folder, 'sources.list'),
      lines
        .map(({ type, archive: { uri, release, component } }) => `${type} [signed-by=${KEYRING}] ${uri} ${release} ${component}\n`)
        .join(''),
    );
    writeFileSync(join(folder, 'status'), '');
    const settings = {
      'Dir::Etc::SourceList': join(folder, 'sources.list'),
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::State::Lists': join(folder, 'lists'),
      'Dir::Cache': folder,
      'Dir::Cache::archives': join(folder, 'archives'),
      'APT::Sandbox::User': '',
      ...(installed ? {} : { 'Dir::State': folder, 'Dir::State::status': join(folder, 'status') }),
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  }

  /** The folder of downloaded packages. */
  get archives(): string {
    return join(this.#folder, 'archives');
  }

  /** Runs apt-get with this configuration, in its folder. */
  async run(args: readonly string[], what: string): Promise<void> {
    await run('apt-get', [...this.#options, '-q', ...args], { what, log: join(this.#folder, 'apt.log'), cwd: this.#folder });
  }
}
