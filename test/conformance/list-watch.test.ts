/** The Kubernetes edge on a real kube-apiserver. */

import { describe } from 'node:test';
import { missingClusterPrograms, RealCluster } from '../../src/lab/real-cluster/real-cluster.ts';
import { listWatchSuite } from './list-watch.ts';

describe('a real kube-apiserver', { skip: missingClusterPrograms() ?? false }, () => {
  listWatchSuite('kube-apiserver', async () => {
    const cluster = new RealCluster({ controllerManager: false });
    await cluster.start();
    return {
      kubeconfig: cluster.kubeconfig,
      stop: () => cluster.stop(),
      crash: { down: () => cluster.kill('kube-apiserver'), up: () => cluster.restart('kube-apiserver') },
    };
  });
});
