/**
 * Kubelet's probes of pods in custom Vpcs, which the node does not reach by any route: what kubelet opens to the address and the port of a probe
 * is led to a listener of the agent, which connects from within the pod's own network namespace. No packet passes from the node to a Vpc, or
 * from one Vpc to another, and pods with equal addresses are told apart by what their probes ask.
 *
 * Only kubelet is led, and never from an address that means something else to the node: its owner could otherwise take the node's connections over.
 */
import type { Rule } from '../../../engine/compiler.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { keysOf, ONCE } from '../../../engine/domain.ts';
import { deviceOf, interfaceOf } from '../../../agent/world/attachment.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { KUBELET, type KubeletMark, type ProbeListener, unprobedText } from '../../../agent/world/probe.ts';
import { isReachedFromNodes } from '../../subnet/agent-rules/reached-from-nodes.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import { podNetwork } from './pod-network.ts';

/** Kubelet probes the address of this one. */
const PROBED_INTERFACE = 'eth0';

export function probedPods(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'probed-pods',
    over: (world) => keysOf(world.attachments),
    run(world, key) {
      const attachment = world.attachments.get(key);
      if (attachment === undefined || attachment.removing === true || attachment.interfaceName !== PROBED_INTERFACE) return [];
      const name = `${attachment.pod.namespace}/${attachment.pod.name}`;
      const pod = world.pods.get(name);
      const probes = pod?.probes ?? [];
      if (pod === undefined || probes.length === 0) return [];
      const network = podNetwork(pod, attachment);
      if (network.kind !== 'bound') return [];
      const subnet = world.subnets.get(network.subnet);
      if (subnet === undefined || subnet.vpc === '' || subnet.vpc === settings.defaultVpc) return [];
      const newer = world.attachments.select('interface', interfaceOf(attachment)).some(({ order }) => order > attachment.order);
      const device = world.devices.get(deviceOf(attachment));
      if (newer || device?.kind !== 'present') return [];
      const registries = world.nodes.get(settings.node)?.registries ?? [];
      const ports = [...new Set(probes.map(({ port }) => port))];
      const told = (message: string): NodeOutput => ({
        ...{ kind: 'object-event', resource: 'pods', reason: 'ProbesNotLed', message, uid: pod.uid },
        ...attachment.pod,
      });
      const outputs = network.addresses
        .filter(({ ip }) => device.addresses.some((address) => address.startsWith(`${ip}/`)))
        .flatMap(({ ip }): readonly NodeOutput[] => {
          // The annotation is a claim.
          if (!subnet.cidrs.some((cidr) => contains(cidr, ip))) return [];
          const owner = otherOwner(world, ip, settings);
          if (owner !== undefined)
            return [{ kind: 'unprobed-pod', pod: name, address: ip, owner }, told(unprobedText({ pod: name, address: ip, owner }))];
          const failures = ports.flatMap((port) => world.failures.get(`probes ${ip} ${port}`) ?? []);
          const led = ports.map((port): NodeOutput => ({
            kind: 'probed-pod',
            pod: name,
            address: ip,
            port,
            namespacePath: attachment.namespacePath,
            probes: probes.filter((probe) => probe.port === port),
            registries,
          }));
          return [...led, ...failures.slice(0, 1).map(told)];
        });
      const mark = world.kubelet.get(KUBELET);
      return outputs.length > 0 && mark?.kind === 'none' ? [...outputs, told(`kubelet cannot probe pod ${name}: ${mark.reason}`)] : outputs;
    },
  };
}

/** What else has the address for the node; undefined: nothing. */
function otherOwner(world: NodeWorld, ip: string, settings: NodeSettings): string | undefined {
  for (const name of world.subnets.keys()) {
    const other = world.subnets.get(name);
    const isOfNode = other !== undefined && (isReachedFromNodes(other, settings) || other.vpc === '' || other.vpc === settings.defaultVpc);
    if (isOfNode && other.cidrs.some((cidr) => contains(cidr, ip))) return `Subnet ${name} of the default Vpc`;
  }
  for (const name of world.hostLinks.keys()) {
    const { addresses = [], routes = [] } = world.hostLinks.get(name) ?? {};
    // `172.18.0.2/16 brd …`, `192.0.2.0/24 via …`; a route to everywhere is none to this address.
    const networks = [...addresses, ...routes].map((text) => text.split(' ')[0] ?? '').filter((text) => !text.endsWith('/0'));
    if (networks.some((network) => network === ip || contains(network, ip))) return `a network of the node's interface ${name}`;
  }
  // What the node reaches by its default route alone.
  const peer = world.hostPeers.get(ip);
  return peer === undefined ? undefined : `use by ${peer}`;
}

/** The text of a network may be that of an address with the length of its prefix. */
function contains(cidr: string, ip: string): boolean {
  const [network, address] = [parseCidr(cidr), parseAddress(ip)];
  return network !== undefined && address !== undefined && network.family === address.family && cidrContains(network, address);
}

/** Kubelet's connections by address and port; nobody's where kubelet is not known. */
export const probeFilter: Rule<NodeWorld, NodeOutput> = {
  name: 'probe-filter',
  over: () => ONCE,
  run(world) {
    const listeners = [...world.probeListeners.keys()].toSorted().flatMap((key) => world.probeListeners.get(key) ?? []);
    const mark = world.kubelet.get(KUBELET);
    if (listeners.length === 0 || mark === undefined || mark.kind === 'none') return [{ kind: 'probe-filter', script: '' }];
    const [open, closed] = [true, false].map((is) => listeners.filter((one) => one.open === is)) as [ProbeListener[], ProbeListener[]];
    const script = [...commentOf(mark), ...leading(open, mark), ...refusing(closed, mark)].join('\n');
    return [{ kind: 'probe-filter', script, ...(mark.kind === 'cgroup' && { cgroupNamespace: mark.namespace }) }];
  },
};

const FAMILIES = [
  { family: 4, match: 'ip', loopback: '127.0.0.1' },
  { family: 6, match: 'ip6', loopback: '::1' },
] as const;
type Mark = Exclude<KubeletMark, { readonly kind: 'none' }>;
/** Kernels before 6.12 count levels from the root of all namespaces, which may be so much further up. */
const MORE_LEVELS = 4;

/** The table is made again with each cgroup of the same path. */
function commentOf(mark: Mark): readonly string[] {
  return mark.kind === 'cgroup' ? [`  # cgroup ${mark.id}`] : [];
}

/** What every other program of the node sends, root's too, is left alone. */
function byKubelet(mark: Mark, chain: string): readonly string[] {
  if (mark.kind === 'class') return [`  meta cgroup ${mark.id} meta l4proto tcp goto ${chain}`];
  const depth = mark.path.split('/').length;
  return Array.from(
    { length: MORE_LEVELS + 1 },
    (_, more) => `  socket cgroupv2 level ${depth + more} "${mark.file}" meta l4proto tcp goto ${chain}`,
  );
}

/**
 * After the chain of kube-proxy, in whatever mode: a custom Vpc may have the network of Services, and the first chain that translates a connection
 * decides. So a pod with the address of a Service never gets what the node sends to the Service.
 */
function leading(listeners: readonly ProbeListener[], mark: Mark): readonly string[] {
  const families = FAMILIES.filter(({ family }) => ofFamily(listeners, family).length > 0);
  if (families.length === 0) return [];
  const maps = families.flatMap(({ family, match, loopback }) => {
    const elements = ofFamily(listeners, family).map(({ address, port, local }) => `${address} . ${port} : ${loopback} . ${local}`);
    const key = `${match} daddr . tcp dport`;
    // A map of the table, since one in a rule cannot say typeof: see the sets of outgoing-nat.ts.
    return [`map listeners${family} {`, `  typeof ${key} : ${key}`, `  elements = { ${elements.join(', ')} }`, '}'];
  });
  const rules = families.map(({ family, match }) => `  dnat ${match} to ${match} daddr . tcp dport map @listeners${family}`);
  return [
    ...maps,
    ...['chain led {', ...rules, '}'],
    ...['chain probes {', '  type nat hook output priority -90; policy accept;', ...byKubelet(mark, 'led'), '}'],
  ];
}

/** Those to Services are translated by then. */
function refusing(closed: readonly ProbeListener[], mark: Mark): readonly string[] {
  const rules = FAMILIES.flatMap(({ family, match }) => {
    const elements = ofFamily(closed, family).map(({ address, port }) => `${address} . ${port}`);
    return elements.length === 0 ? [] : [`  ct state new ${match} daddr . tcp dport { ${elements.join(', ')} } reject with tcp reset`];
  });
  if (rules.length === 0) return [];
  return [
    ...['chain refused {', ...rules, '}'],
    ...['chain closed {', '  type filter hook output priority -80; policy accept;', ...byKubelet(mark, 'refused'), '}'],
  ];
}

function ofFamily(listeners: readonly ProbeListener[], family: 4 | 6): readonly ProbeListener[] {
  return listeners.filter(({ address }) => address.includes(':') === (family === 6));
}
