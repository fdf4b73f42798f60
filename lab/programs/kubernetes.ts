import { join } from 'node:path';
import { cacheDirectory, type Environment } from '../../src/runtime/cache-directory.ts';
import { isExecutable, onPath } from './executable.ts';

/** Programs a real control plane takes; `kubectl` is for people and for tests. */
export type KubernetesProgram = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl';

/** A release that set-up builds, and the programs that its build leaves in the cache. */
export interface KubernetesBuild {
  readonly version: string;
  /** Counts changes of how it is built (overlay, flags): a new recipe is a new folder in the cache. */
  readonly recipe: number;
  readonly programs: readonly KubernetesProgram[];
}

/** The current one is built from Go modules, the oldest that Kiln supports from Debian's sources. */
export const KUBERNETES_BUILDS = {
  current: { version: '1.34.4', recipe: 1, programs: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] },
  oldest: { version: '1.20.2', recipe: 1, programs: ['kube-apiserver', 'kube-controller-manager'] },
} as const satisfies Readonly<Record<string, KubernetesBuild>>;
export type KubernetesBuildName = keyof typeof KUBERNETES_BUILDS;

/** In the order in which they are taken. */
const NAMES: readonly KubernetesBuildName[] = ['current', 'oldest'];

/** The folder in the cache that holds what set-up built. */
export function kubernetesBuildDirectory(name: KubernetesBuildName, env: Environment = process.env): string {
  const { version, recipe } = KUBERNETES_BUILDS[name];
  return join(cacheDirectory(env), `kubernetes-${version}-${recipe}`);
}

/** The variable that names one program's binary, as envtest has it: `TEST_ASSET_KUBE_APISERVER`. */
export function assetVariable(program: KubernetesProgram): string {
  return `TEST_ASSET_${program.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Finds a binary: `TEST_ASSET_<PROGRAM>`, `$KUBEBUILDER_ASSETS/<program>` (both envtest's conventions), PATH, then what
 * set-up built into the cache. A variable that names something that cannot be executed is passed over.
 * With `TEST_KUBERNETES=current` or `oldest`, the programs of that build are found there or nowhere.
 */
export function findKubernetesProgram(program: KubernetesProgram, env: Environment = process.env): string | undefined {
  const wanted = wantedBuild(env);
  if (wanted !== undefined && isBuilt(wanted, program)) return inBuild(wanted, program, env);
  const asset = env[assetVariable(program)];
  if (asset && isExecutable(asset)) return asset;
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets && isExecutable(join(assets, program))) return join(assets, program);
  const found = onPath(program, env);
  const builds = wanted === undefined ? NAMES.filter((name) => inBuild(name, 'kube-apiserver', env) !== undefined) : [wanted];
  // A distribution's etcd may be too old for the API server that was built: that one has its own.
  const own = wanted === undefined && onPath('kube-apiserver', env) === undefined ? builds.slice(0, 1) : [];
  const etcd = program === 'etcd' ? own.map((name) => inBuild(name, program, env)).at(0) : undefined;
  return etcd ?? found ?? [...builds, ...NAMES].map((name) => inBuild(name, program, env)).find((path) => path !== undefined);
}

/** The one build that `TEST_KUBERNETES` asks for. Throws `RangeError` for a name that is none. */
function wantedBuild(env: Environment): KubernetesBuildName | undefined {
  const name = env['TEST_KUBERNETES'];
  if (!name) return undefined;
  const found = NAMES.find((known) => known === name);
  if (found === undefined) throw new RangeError(`TEST_KUBERNETES is "${name}", not one of ${NAMES.join(', ')}`);
  return found;
}

function isBuilt(name: KubernetesBuildName, program: KubernetesProgram): boolean {
  const { programs }: KubernetesBuild = KUBERNETES_BUILDS[name];
  return programs.includes(program);
}

function inBuild(name: KubernetesBuildName, program: KubernetesProgram, env: Environment): string | undefined {
  const path = join(kubernetesBuildDirectory(name, env), program);
  return isExecutable(path) ? path : undefined;
}
