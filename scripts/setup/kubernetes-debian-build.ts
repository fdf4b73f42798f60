/**
 * Builds kube-apiserver and kube-controller-manager from Debian 12's source package: the oldest release that Kiln supports, and the only
 * one that is available without Go. The source is of 2021 and the compiler of 2023, hence the overlay below.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { KUBERNETES_BUILDS } from '../../lab/programs/kubernetes.ts';
import { archives, debianArchive, installPackages, PrivateApt } from './debian.ts';
import { progress, SetupError } from './report.ts';
import { run } from './run.ts';

const SUITE = 'bookworm';
const GO = '/usr/lib/go-1.19/bin/go';
const REFLECT2 = '/usr/share/gocode/src/github.com/modern-go/reflect2';
const { version: VERSION, programs: PROGRAMS } = KUBERNETES_BUILDS.oldest;

const TAG = '+k8s:openapi-gen=';
/** Packages with the build tag that are not part of the server's API: generators, examples, samples. */
const NOT_SERVED = /(^|\/)(_examples|cmd|example2?|kube-openapi|sample-apiserver|testapigroup)(\/|$)/;

/** Builds the two binaries into `folder`, which has nothing else. About four minutes on two cores, 2 GB of disk meanwhile. */
export async function buildOldestKubernetes(folder: string): Promise<void> {
  const work = join(folder, 'work');
  await mkdir(work);
  await installTools();
  const tree = await fetchSource(work);
  const build = { folder, work, tree, env: goEnvironment(work), overlay: await writeOverlay(work, tree) };
  await generateOpenApi(build);
  for (const program of PROGRAMS) await compile(build, `./cmd/${program}`, join(folder, program));
  for (const program of PROGRAMS) {
    const log = join(work, 'version.log');
    await run(join(folder, program), ['--version'], { what: `checking ${program}`, log });
    progress(`  ${(await readFile(log, 'utf8')).trim()}`);
  }
  await rm(work, { recursive: true });
}

interface Build {
  readonly folder: string;
  readonly work: string;
  readonly tree: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly overlay: string;
}

/** Throws a `SetupError` that says what to do instead if the sources are not available. */
export function requireSources(): void {
  if (debianArchive()?.release === SUITE) return;
  throw new SetupError(
    'no kube-apiserver and kube-controller-manager were found, and only Debian 12 has the sources to build them from: ' +
      'put their folder into PATH or KUBEBUILDER_ASSETS (setup-envtest fetches the first), or name the files in ' +
      'TEST_ASSET_KUBE_APISERVER and TEST_ASSET_KUBE_CONTROLLER_MANAGER',
  );
}

async function installTools(): Promise<void> {
  if (existsSync(GO) && existsSync(REFLECT2) && existsSync('/usr/bin/dpkg-source')) return;
  await installPackages(['golang-1.19-go', 'golang-github-modern-go-reflect2-dev', 'dpkg-dev'], 'what builds kube-apiserver');
}

/** Fetches and unpacks the source package where its imports expect it in a GOPATH; returns that path. */
async function fetchSource(work: string): Promise<string> {
  const aptFolder = join(work, 'apt');
  const sources = archives().filter(({ release }) => release.startsWith(SUITE));
  const apt = new PrivateApt(
    aptFolder,
    sources.map((archive) => ({ type: 'deb-src' as const, archive })),
    true,
  );
  await apt.run(['update'], 'reading the lists of source packages');
  await apt.run(['source', '--download-only', 'kubernetes'], 'downloading the source of Kubernetes');
  const description = (await readdir(aptFolder)).find((name) => name.endsWith('.dsc'));
  if (description === undefined) throw new SetupError('apt-get source kubernetes left no source package');
  const tree = join(work, 'go/src/k8s.io/kubernetes');
  await mkdir(dirname(tree), { recursive: true });
  // apt has checked the package's hash against the archive's signed lists; dpkg-source would need a maintainer's key.
  await run('dpkg-source', ['--no-check', '-x', join(aptFolder, description), tree], {
    what: 'unpacking the source of Kubernetes',
    log: join(work, 'unpack.log'),
  });
  return tree;
}

/** GOPATH mode, and nothing of the user's own Go configuration. */
function goEnvironment(work: string): Build['env'] {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GO'));
  return {
    ...Object.fromEntries(inherited),
    GO111MODULE: 'off',
    GOENV: 'off',
    GOPATH: join(work, 'go'),
    GOCACHE: join(work, 'go-cache'),
    CGO_ENABLED: '0',
  };
}

/**
 * Two vendored pieces do not survive Go 1.18 and later: reflect2 before 1.0.2 crashes the server on the first custom
 * object, and the schema validator takes the empty string for null. Returns the path of the overlay file.
 */
async function writeOverlay(work: string, tree: string): Promise<string> {
  const replace: Record<string, string> = {};
  const vendored = join(tree, 'vendor/github.com/modern-go/reflect2');
  for (const name of [...(await goFiles(vendored)), ...(await goFiles(REFLECT2))]) {
    const newer = join(REFLECT2, name);
    replace[join(vendored, name)] = existsSync(newer) ? newer : '';
  }
  const validator = join(tree, 'vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go');
  const before = 'if data == nil || reflect.DeepEqual(reflect.Zero(reflect.TypeOf(data)), reflect.ValueOf(data)) {';
  const source = await readFile(validator, 'utf8');
  if (!source.includes(before)) throw new SetupError(`${relative(tree, validator)} is not the file that the overlay was written for`);
  replace[validator] = join(work, 'type.go');
  await writeFile(replace[validator], source.replace(before, 'if data == nil {'));
  const overlay = join(work, 'overlay.json');
  await writeFile(overlay, JSON.stringify({ Replace: replace }));
  return overlay;
}

async function goFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /\.(go|s)$/.test(name) && !name.endsWith('_test.go'));
}

/** The source package lacks the generated OpenAPI definitions. */
async function generateOpenApi(build: Build): Promise<void> {
  const generator = join(build.work, 'openapi-gen');
  await compile(build, './vendor/k8s.io/kube-openapi/cmd/openapi-gen', generator);
  const packages = (await taggedPackages(build)).flatMap((name) => ['--input-dirs', name]);
  const output = join(build.work, 'go/src');
  await run(
    generator,
    [
      ...packages,
      ...['--output-base', output, '--output-package', 'k8s.io/kubernetes/pkg/generated/openapi'],
      ...['--output-file-base', 'zz_generated.openapi', '--report-filename', join(build.work, 'violations.txt')],
      ...['--go-header-file', join(build.tree, 'hack/boilerplate/boilerplate.generatego.txt')],
    ],
    { what: 'generating the OpenAPI definitions', log: join(build.work, 'openapi-gen.log'), cwd: build.tree, env: build.env },
  );
}

async function taggedPackages({ tree, work }: Build): Promise<string[]> {
  const log = join(work, 'grep.log');
  const what = 'looking for API packages';
  await run('grep', ['-rlF', '--include=*.go', TAG, 'pkg', 'staging/src'], { what, log, cwd: tree });
  const folders = (await readFile(log, 'utf8')).trim().split('\n').map(dirname);
  return [...new Set(folders)]
    .filter((folder) => !NOT_SERVED.test(folder))
    .map((folder) => `k8s.io/kubernetes/${folder.replace(/^staging\/src\//, 'vendor/')}`)
    .sort();
}

async function compile(build: Build, source: string, output: string): Promise<void> {
  const variable = 'k8s.io/component-base/version.gitVersion';
  const names = [variable, `k8s.io/kubernetes/vendor/${variable}`];
  const flags = ['-s', '-w', ...names.flatMap((name) => ['-X', `${name}=v${VERSION}`])].join(' ');
  await run('nice', [GO, 'build', '-overlay', build.overlay, '-ldflags', flags, '-o', output, source], {
    what: `compiling ${source.split('/').at(-1)}`,
    log: join(build.work, 'compile.log'),
    cwd: build.tree,
    env: build.env,
  });
}
