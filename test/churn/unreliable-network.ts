/** An unreliable network between controllers and both servers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { UnreliableProxy } from '../../src/testing/unreliable-proxy.ts';
import type { Network } from './churn.ts';

/** Enough for a list of all pods to come through more often than not. */
const LIFE_BYTES = 500_000;

export class UnreliableNetwork implements Network, AsyncDisposable {
  readonly kubeconfig: string;
  readonly ovnNb: string;
  readonly #directory: string;
  readonly #proxies: readonly UnreliableProxy[];

  private constructor(directory: string, kubeconfig: string, proxies: { readonly api: UnreliableProxy; readonly ovn: UnreliableProxy }) {
    this.#directory = directory;
    this.kubeconfig = kubeconfig;
    this.ovnNb = proxies.ovn.endpoint;
    this.#proxies = [proxies.api, proxies.ovn];
  }

  static async before(cluster: ScenarioCluster): Promise<UnreliableNetwork> {
    const text = await cluster.kubectl(['config', 'view', '--raw', '-o', 'json']);
    const { clusters } = JSON.parse(text) as { readonly clusters: readonly [{ readonly cluster: { readonly server: string } }] };
    const { host, hostname, port } = new URL(clusters[0].cluster.server);
    const api = await UnreliableProxy.start(`tcp:${hostname}:${port}`, { lifeBytes: LIFE_BYTES }, Math.random);
    const ovn = await UnreliableProxy.start(cluster.ovn.nbEndpoint, { lifeBytes: LIFE_BYTES }, Math.random);
    const directory = await mkdtemp(join(tmpdir(), 'kiln-unsteady-'));
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, text.replaceAll(host, `${hostname}:${api.port}`), { mode: 0o600 });
    return new UnreliableNetwork(directory, kubeconfig, { api, ovn });
  }

  /** The number of connections that it broke. */
  get broken(): number {
    return this.#proxies.reduce((sum, { broken }) => sum + broken.closed + broken.silent, 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.#proxies) await proxy.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
