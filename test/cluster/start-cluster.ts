import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KubernetesCluster, type KubernetesClusterOptions } from '../../lab/cluster/kubernetes-cluster.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { buildExecutable } from '../../scripts/build/executable.ts';

export interface StartedCluster {
  readonly cluster: KubernetesCluster;
  readonly end: () => Promise<void>;
}

/** A cluster with the plugin as it is now. */
export async function startCluster(options: Omit<KubernetesClusterOptions, 'plugin'> = {}): Promise<StartedCluster> {
  const folder = await makeTemporaryFolder('kiln-plugin-');
  const remove = (): Promise<void> => rm(folder, { recursive: true });
  try {
    const plugin = join(folder, 'kiln-cni');
    await buildExecutable('src/cni/main.ts', plugin);
    const cluster = await KubernetesCluster.start({ ...options, plugin });
    const end = async (): Promise<void> => {
      await cluster[Symbol.asyncDispose]();
      await remove();
    };
    return { cluster, end };
  } catch (error) {
    await remove();
    throw error;
  }
}
