import { describe, test } from 'node:test';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { apiServerMinor, missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { apiServerSuite } from './api-server.ts';

const missing = missingClusterPrograms() ?? (findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : undefined);

if (missing === undefined) {
  apiServerSuite('a real kube-apiserver', await apiServerMinor(), async () => {
    const cluster = new RealCluster();
    await cluster.start();
    return { kubeconfigPath: cluster.kubeconfig, stop: () => cluster.stop() };
  });
} else {
  describe('a real kube-apiserver', () => {
    test('the conformance suite', { skip: missing }, () => undefined);
  });
}
