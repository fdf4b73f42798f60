/**
 * Hosts that the node itself talks to: its API servers, resolvers and registries. They are read where kubelet reads them, since the agent's
 * container has files of its own. What cannot be read names nobody.
 */
import { lookup } from 'node:dns/promises';
import { readdir, readFile } from 'node:fs/promises';
import { canonicalAddress } from '../../net/address.ts';
import type { KubeletProcess } from './kubelet-process.ts';

/** What each is, by its name or address. */
type Named = readonly (readonly [host: string, what: string])[];
export type Resolve = (name: string) => Promise<readonly string[]>;

export const resolveName: Resolve = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/** Of kubeadm and its followers; those of kubelet's own arguments are read too. */
const KUBECONFIGS = [
  '/var/lib/kubelet/kubeconfig',
  '/var/lib/rancher/k3s/agent/kubelet.kubeconfig',
  '/var/lib/rancher/rke2/agent/kubelet.kubeconfig',
  '/var/snap/microk8s/current/credentials/kubelet.config',
] as const;
const KUBECONFIG_FOLDER = '/etc/kubernetes';
/** What the agents of k3s and RKE2 connect to for kubelet. */
const LOAD_BALANCERS = ['k3s', 'rke2'].map((name) => `/var/lib/rancher/${name}/agent/etc/${name}-agent-load-balancer.json`);
const RESOLVERS = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'] as const;
/** Where containerd has settings of registries, a folder each. */
const REGISTRIES = '/etc/containerd/certs.d';

/** @param root the file system of kubelet @returns by canonical address */
export async function hostPeers(
  { root, command, registries }: Pick<KubeletProcess, 'command'> & { readonly root: string; readonly registries: readonly string[] },
  resolve: Resolve = resolveName,
): Promise<ReadonlyMap<string, string>> {
  const read = async (file: string): Promise<string> => await readFile(root + file, 'utf8').catch(() => '');
  const list = async (folder: string): Promise<readonly string[]> => await readdir(root + folder).catch(() => []);
  const given = command.flatMap(
    (word, at) =>
      /^--(?:bootstrap-)?kubeconfig(?:=(.+))?$/
        .exec(word)
        ?.slice(1)
        .map((file) => file ?? command[at + 1] ?? '') ?? [],
  );
  const inFolder = (await list(KUBECONFIG_FOLDER)).filter((name) => name.endsWith('.conf')).map((name) => `${KUBECONFIG_FOLDER}/${name}`);
  const files = [...new Set([...given, ...inFolder, ...KUBECONFIGS])];
  const named: Named = [
    ...(await Promise.all(files.map(async (file) => serversIn(await read(file), `the API server in ${file}`)))).flat(),
    ...(await Promise.all(LOAD_BALANCERS.map(async (file) => balancedIn(await read(file), `a server in ${file}`)))).flat(),
    ...(await Promise.all(RESOLVERS.map(async (file) => resolversIn(await read(file), `a resolver in ${file}`)))).flat(),
    ...[...registries, ...(await list(REGISTRIES)).filter((name) => !name.startsWith('_'))].flatMap(registryHosts),
  ];
  const hosts = hostsIn(await read('/etc/hosts'));
  const found = new Map<string, string>();
  await Promise.all(
    named.map(async ([host, what]) => {
      const own = canonicalAddress(host);
      const addresses = own === undefined ? (hosts.get(host.toLowerCase()) ?? (await resolve(host).catch(() => []))) : [own];
      for (const address of addresses) found.set(canonicalAddress(address) ?? address, own === undefined ? `${what} (${host})` : what);
    }),
  );
  return found;
}

function serversIn(kubeconfig: string, what: string): Named {
  return Array.from(kubeconfig.matchAll(/^\s*(?:- )?["']?(?:server|proxy-url)["']?:\s*["']?([^\s"',]+)/gm), ([, url = '']) =>
    hostOf(url),
  ).flatMap((host) => (host === undefined ? [] : [[host, what] as const]));
}

function balancedIn(json: string, what: string): Named {
  return Array.from(json.matchAll(/"(?:https?:\/\/)?([^"\s/]+:\d+)"|"https?:\/\/([^"\s/:]+)"/g), ([, pair, alone]) =>
    hostOf(`https://${pair ?? alone}`),
  ).flatMap((host) => (host === undefined ? [] : [[host, what] as const]));
}

function resolversIn(text: string, what: string): Named {
  return Array.from(text.matchAll(/^\s*nameserver\s+([^\s%]+)/gm), ([, address = '']) => [address, what] as const);
}

/** @param registry as in the name of an image: `registry.shop.example:5000` */
function registryHosts(registry: string): Named {
  const host = hostOf(`https://${registry}`);
  if (host === undefined) return [];
  // What this name means to a runtime.
  const all = host === 'docker.io' ? ['registry-1.docker.io', 'auth.docker.io'] : [host];
  return all.map((one) => [one, `registry ${registry}`] as const);
}

function hostOf(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') || undefined;
  } catch {
    return undefined;
  }
}

/** @returns addresses by name in lower case */
function hostsIn(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    for (const name of names) found.set(name.toLowerCase(), [...(found.get(name.toLowerCase()) ?? []), address]);
  }
  return found;
}
