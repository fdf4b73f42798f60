import { join } from 'node:path';
import { cacheDirectory, type Environment } from './cache-directory.ts';
import { isExecutable, onPath } from './executable.ts';

/**
 * The release that set-up builds from Debian's sources. `recipe` counts changes of how it is built (overlay, flags):
 * a new recipe is a new folder in the cache, so nobody runs a binary that an older recipe made.
 */
export const KUBERNETES_BUILD = { version: '1.20.2', recipe: 1 } as const;

/** Programs a real control plane takes; the first three are started, `kubectl` is for people and for tests. */
export type KubernetesProgram = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl';

/** The folder in the cache that holds what set-up built. */
export function kubernetesBuildDirectory(env: Environment = process.env): string {
  const { version, recipe } = KUBERNETES_BUILD;
  return join(cacheDirectory(env), `kubernetes-${version}-${recipe}`);
}

/** The variable that names one program's binary, as envtest has it: `TEST_ASSET_KUBE_APISERVER`. */
export function assetVariable(program: KubernetesProgram): string {
  return `TEST_ASSET_${program.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Finds a binary: `TEST_ASSET_<PROGRAM>`, `$KUBEBUILDER_ASSETS/<program>` (both envtest's conventions), PATH, then what
 * set-up built into the cache. A variable that names something that cannot be executed is passed over.
 */
export function findKubernetesProgram(program: KubernetesProgram, env: Environment = process.env): string | undefined {
  const asset = env[assetVariable(program)];
  if (asset && isExecutable(asset)) return asset;
  const assets = env['KUBEBUILDER_ASSETS'];
  if (assets && isExecutable(join(assets, program))) return join(assets, program);
  const found = onPath(program, env);
  if (found !== undefined) return found;
  const built = join(kubernetesBuildDirectory(env), program);
  return isExecutable(built) ? built : undefined;
}
