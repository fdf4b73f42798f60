/** What is on a node, or in OVN, that no pod explains. */
import type { OvnLab } from '../ovn/ovn-lab.ts';
import type { RealCluster } from '../real-cluster/real-cluster.ts';
import type { ClusterNode } from './cluster-node.ts';

interface Pod {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: { readonly nodeName?: string; readonly hostNetwork?: boolean };
  readonly status: { readonly phase?: string };
}

/** The bridge of OVN. */
const BRIDGE = 'br-int';

/**
 * One sentence for each port, device, or network namespace on the nodes, and for each logical port, whose pod does not run, and for each
 * running pod that lacks one. Empty when all is right; something is missing or too much while pods start or end.
 */
export async function leftovers(nodes: readonly ClusterNode[], control: RealCluster, ovn: OvnLab): Promise<readonly string[]> {
  const { items } = JSON.parse(await control.kubectl(['get', 'pods', '--all-namespaces', '--output=json'])) as { readonly items: Pod[] };
  const alive = items.filter(
    ({ spec, status }) =>
      spec.nodeName !== undefined && spec.hostNetwork !== true && status.phase !== 'Succeeded' && status.phase !== 'Failed',
  );
  const found: string[] = [];
  for (const node of nodes)
    found.push(
      ...(await onNode(
        node,
        alive.filter(({ spec }) => spec.nodeName === node.name),
      )),
    );
  const pods = new Set(alive.map(nameOf));
  const rows = await ovn.nbctl('--bare', '--columns=external_ids', 'find', 'logical_switch_port', 'external_ids:pod!=""');
  const ports = [...rows.matchAll(/(?:^|\s)pod=(\S+)/gm)].map(([, pod = '']) => pod);
  found.push(...differences('OVN', 'logical port', ports, pods));
  return found;
}

async function onNode(node: ClusterNode, pods: readonly Pod[]): Promise<readonly string[]> {
  const text = await node.packets.vswitch.vsctl('--format=json', '--columns=name,external_ids', 'list', 'interface');
  const { data } = JSON.parse(text) as {
    readonly data: readonly (readonly [string, readonly ['map', readonly (readonly [string, string])[]]])[];
  };
  const ports = data.flatMap(([name, [, pairs]]) => {
    const ids = Object.fromEntries(pairs);
    return ids['pod_name'] === undefined ? [] : [{ name, pod: `${ids['pod_namespace']}/${ids['pod_name']}`, path: ids['pod_netns'] ?? '' }];
  });
  const listed = await node.packets.vswitch.vsctl('list-ports', BRIDGE);
  const links = JSON.parse(await node.machine.run('ip', '-json', 'link', 'show')) as readonly { readonly ifname: string }[];
  const namespaces = (await node.machine.run('sh', '-c', 'ls /run/netns 2>/dev/null || :')).split('\n').filter((name) => name !== '');
  const devices = new Set(ports.map(({ name }) => name));
  return [
    ...differences(
      node.name,
      'port',
      ports.map(({ pod }) => pod),
      new Set(pods.map(nameOf)),
    ),
    ...differences(
      node.name,
      'device',
      links.map(({ ifname }) => ifname).filter((name) => /_[hc]$/.test(name)),
      devices,
    ),
    ...differences(
      node.name,
      `port of ${BRIDGE}`,
      listed.split('\n').filter((name) => name.endsWith('_h')),
      devices,
    ),
    ...differences(node.name, 'network namespace', namespaces, new Set(ports.map(({ path }) => path.slice(path.lastIndexOf('/') + 1)))),
  ];
}

function differences(place: string, what: string, found: readonly string[], wanted: ReadonlySet<string>): readonly string[] {
  const there = new Set(found);
  return [
    ...found.filter((one) => !wanted.has(one)).map((one) => `${place}: ${what} ${one} belongs to no running pod`),
    ...found.filter((one, at) => found.indexOf(one) !== at).map((one) => `${place}: ${what} ${one} is there twice`),
    ...[...wanted].filter((one) => !there.has(one)).map((one) => `${place}: ${what} ${one} is missing`),
  ];
}

function nameOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}
