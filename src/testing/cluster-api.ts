/**
 * The API server of a scenario: the laboratory's own or a real control plane, behind one interface.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { RealCluster } from '../../lab/real-cluster/real-cluster.ts';

export interface ClusterApi {
  readonly kind: 'lab' | 'real';
  readonly kubeconfig: string;
  /** Authority of the API server's client certificate for webhooks. */
  readonly frontProxyAuthority: string;
  /** False before Kubernetes 1.25. */
  readonly cel: boolean;
  /** The real control plane, for a scenario that kills a part of it. */
  readonly real: RealCluster | undefined;
  /** The number of answered creates, updates, patches and deletes so far, except those of Leases. */
  readonly writes: (kubectl: (...args: string[]) => Promise<string>) => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function startApi(kind: 'lab' | 'real', directory: string): Promise<ClusterApi> {
  return kind === 'lab' ? startLab(directory) : startReal();
}

async function startLab(directory: string): Promise<ClusterApi> {
  let writes = 0;
  const server = new LabApiServer({
    onRequest: ({ method, url = '' }) => {
      if (method !== 'GET' && !url.includes('/leases')) writes++;
    },
  });
  await mkdir(directory, { recursive: true });
  await server.start();
  const kubeconfig = join(directory, 'kubeconfig');
  await server.writeKubeconfig(kubeconfig);
  const frontProxyAuthority = join(directory, 'front-proxy-ca.crt');
  await server.writeFrontProxyAuthority(frontProxyAuthority);
  return {
    kind: 'lab',
    kubeconfig,
    frontProxyAuthority,
    cel: true,
    real: undefined,
    writes: () => Promise.resolve(writes),
    stop: () => server.stop(),
  };
}

async function startReal(): Promise<ClusterApi> {
  const real = new RealCluster();
  await real.start();
  const minor = Number.parseInt((JSON.parse(await real.kubectl(['get', '--raw', '/version'])) as { readonly minor: string }).minor, 10);
  return {
    kind: 'real',
    kubeconfig: real.kubeconfig,
    frontProxyAuthority: real.frontProxyAuthority,
    cel: minor >= 25,
    real,
    writes: async (kubectl) => countWrites(await kubectl('get', '--raw', '/metrics')),
    stop: () => real.stop(),
  };
}

/** Sums kube-apiserver's metric of answered requests. */
function countWrites(metrics: string): number {
  let writes = 0;
  for (const [, labels = '', count] of metrics.matchAll(/^apiserver_request_total\{([^}]*)\} (\S+)$/gm)) {
    if (/verb="(POST|PUT|PATCH|DELETE|APPLY)"/.test(labels) && !labels.includes('resource="leases"')) writes += Number(count);
  }
  return writes;
}
