/** What tells one Kubernetes cluster from another: the UID of the namespace kube-system, which is as old as the cluster. */
import { CLUSTER_NAMESPACE } from '../../api/kubernetes/cluster-namespace.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { CommandIo } from '../connection/cluster-command.ts';

/** Undefined, with a warning, if the API server does not tell: a database can be saved while Kubernetes is down. */
export async function clusterUid({ client, say }: Pick<CommandIo, 'client' | 'say'>): Promise<string | undefined> {
  try {
    const { resource, name } = CLUSTER_NAMESPACE;
    return (await client.find(resource, { name }))?.metadata.uid;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    say(`warning: the Kubernetes cluster is not known: ${error.code}: ${error.message}`);
    return undefined;
  }
}
