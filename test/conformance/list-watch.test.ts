/** The suite of `src/kube` on every API server: a difference is a bug of the lab. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { crashTests, listWatchSuite } from './list-watch.ts';

listWatchSuite("the lab's API server", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'kiln-lab-edge-'));
  const server = new LabApiServer({ dataDir });
  await server.start();
  return {
    kubeconfig: join(dataDir, 'kubeconfig'),
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true });
    },
  };
});

describe('with programs of Kubernetes', { skip: missingClusterPrograms() ?? false }, () => {
  listWatchSuite(
    'kube-apiserver',
    async () => {
      const cluster = new RealCluster({ controllerManager: false });
      await cluster.start();
      return {
        kubeconfig: cluster.kubeconfig,
        stop: () => cluster.stop(),
        crash: () => cluster.kill('kube-apiserver'),
        recover: () => cluster.restart('kube-apiserver'),
      };
    },
    crashTests,
  );
});
