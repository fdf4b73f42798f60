import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { apiServerSuite } from './api-server.ts';

apiServerSuite('the laboratory’s API server', 32, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-lab-'));
  const server = new LabApiServer({ dataDir: directory, watchWindow: 500, bookmarkIntervalMs: 200 });
  await server.start();
  return {
    kubeconfigPath: join(directory, 'kubeconfig'),
    stop: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
});
