/** The interface of a pod: the pair of devices, the port, and the answer to the runtime. */
import { routesText } from '../../../agent/world/attachment-routes.ts';
import type { Rule } from '../../../engine/compiler.ts';
import { commandText } from '../../../text/command-text.ts';
import { localnetPort } from '../../../api/names.ts';
import { podAnnotation } from '../../../api/well-known.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { InterfaceReply } from '../../../cni/agent-protocol.ts';
import { type Attachment, type DeviceName, deviceOf, interfaceOf } from '../../../agent/world/attachment.ts';
import { deviceDifferences, differencesText } from '../../../agent/kernel/device-differences.ts';
import { linkAlias } from '../../../agent/kernel/link-alias.ts';
import { API_SERVER, type NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodePod } from '../agent-table.ts';
import type {
  Answer,
  AnswerOutput,
  DeviceOutput,
  DeviceRoute,
  NodeOutput,
  EventReason,
  ObjectEventOutput,
  PortOutput,
} from '../../../agent/world/outputs.ts';
import { INSTALLED, portKey, VENDOR } from '../../../agent/world/port-keys.ts';
import { defaultMtu, mtuProblem } from '../../node/agent-rules/interface-mtu.ts';
import { INTEGRATION_BRIDGE, type NodeSettings } from '../../../agent/rules/node-settings.ts';
import { clusterRoutes } from './cluster-routes.ts';
import { limitEvents, unreadLimits } from './limit-events.ts';
import { podNetwork, type PodNetwork } from './pod-network.ts';
import { hiddenRoutes, podRoutes, unreachedGateways } from './pod-routes.ts';
import { routerMissing, throughRouter, underlayMissing } from './pod-underlay.ts';

/** Of Ethernet. */
const PHYSICAL_MTU = 1_500;
/** Between two of the three questions whether another host has an address: OVN itself answers for its ports, and other pods within some milliseconds. */
const LOGICAL_PROBE_MS = 40;
/** Hosts of a physical network may take longer. */
const PHYSICAL_PROBE_MS = 200;

export function podInterface(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'pod-interface',
    over: (world) => keysOf(world.attachments),
    run(world, key) {
      const attachment = world.attachments.get(key);
      if (attachment === undefined) return [];
      const name = deviceOf(attachment);
      if (attachment.removing === true) return removal(world, attachment, name);
      const others = world.attachments
        .select('interface', interfaceOf(attachment))
        .filter((other) => other.key !== key && other.removing !== true);
      const newer = others.find((other) => other.order > attachment.order);
      const isGone = world.devices.get(name)?.kind === 'no-namespace';
      // The runtime may never ask to remove a sandbox that it has forgotten.
      if (newer !== undefined && isGone) return [answer(attachment, { kind: 'abandoned' })];
      if (newer !== undefined)
        return [
          ...retained(attachment, name),
          answer(attachment, { kind: 'waiting', reason: `sandbox ${newer.containerId} of the pod came later and has the interface` }),
        ];
      const pod = world.pods.get(`${attachment.pod.namespace}/${attachment.pod.name}`);
      const found = pod && podNetwork(pod, attachment);
      if (isAbandoned(world, attachment, name, pod)) return [answer(attachment, { kind: 'abandoned' })];
      // A pod that is gone, or whose annotations are, does not lose its interface: that is the runtime's to remove.
      const kept = (state: Answer): readonly NodeOutput[] => [...retained(attachment, name), answer(attachment, state)];
      if (pod === undefined || found === undefined) return kept(unobserved(world, attachment, settings));
      if (pod.uid !== attachment.podUid && attachment.podUid !== undefined)
        return kept({
          kind: 'waiting',
          reason: `the pod with uid ${attachment.podUid} is not observed yet: ${pod.uid} is an earlier one of its name`,
        });
      if (found.kind === 'waiting' && found.ofLimits === true && world.devices.get(name)?.kind === 'present')
        return [...kept({ kind: 'waiting', reason: found.reason, podUid: pod.uid }), unreadLimits(attachment, pod, found.reason)];
      if (found.kind === 'waiting') return kept({ kind: 'waiting', reason: found.reason, podUid: pod.uid });
      if (found.kind === 'unsupported') return kept({ kind: 'refused', reason: found.reason });
      const network = throughRouter(world, found);
      const ofCluster = clusterRoutes(world, attachment, network, settings);
      const routes = podRoutes(network.addresses, ofCluster, attachment.routes, network.routes);
      const annotation = podAnnotation(attachment.provider, 'routes');
      const sources = { configured: attachment.routes, annotated: network.routes, annotation };
      if (network.addressesOnly) return [answer(attachment, { kind: 'ready', reply: replyOf(network, routes) })];
      const tooLarge = mtuBreach(world, attachment, network, settings);
      if (tooLarge !== undefined) return kept({ kind: 'refused', reason: tooLarge });
      const port = portOf(world, attachment, name, network);
      const device = deviceOutput(world, attachment, name, network, routes, settings);
      const missing =
        underlayMissing(world, network.subnet, settings) ??
        routerMissing(world, network) ??
        missingOf(world, device, port, unreachedGateways(sources, networksOf(network))) ??
        unconnected(world, port, device, network) ??
        changed(world, device);
      const refusal =
        sandboxGone(world, device, attachment) ?? nameTaken(world, device, attachment) ?? duplicateOf(world, device, attachment);
      const state: Answer =
        refusal !== undefined
          ? { kind: 'refused', reason: refusal }
          : missing === undefined
            ? { kind: 'ready', reply: replyOf(network, routes, device) }
            : { kind: 'waiting', reason: missing, podUid: pod.uid };
      // Open vSwitch goes on reading from the device that it knew, though another one has its name: what the pod sends would be lost for good. So
      // the port goes with its device, and comes once there is another one. Where Open vSwitch has no device, it opens the next.
      const isLost = world.devices.get(name)?.kind === 'absent' && world.ports.get(name)?.opened !== undefined;
      const ports = isLost || comesTooEarly(world, name, others) ? [] : [port];
      const events = [
        ...limitEvents(world, attachment, name, pod, network.limits, settings),
        ...hiddenRoutes(sources).map((message) => eventOf(attachment, pod, 'PodRoutesIneffective', message)),
      ];
      return [device, ...ports, ...queueOf(attachment, name, network), ...events, answer(attachment, state)];
    },
  };
}

/**
 * Its namespace is gone, and so is its pod, or another one has its name; or the agent found it at its start, as after a reboot: then the runtime makes another sandbox, and
 * nothing would remove this one.
 */
function isAbandoned(world: NodeWorld, { order, podUid }: Attachment, name: DeviceName, pod: NodePod | undefined): boolean {
  const device = world.devices.get(name);
  if (device?.kind !== 'no-namespace') return false;
  const isGone = pod === undefined || (podUid !== undefined && pod.uid !== podUid);
  return isGone || (order === 0 && device.linked !== true);
}

/**
 * Another sandbox of the pod has the logical port: it is taken from that only for a device that exists. The ADD of a sandbox that is gone may come
 * late, and nothing is made for it.
 */
function comesTooEarly(world: NodeWorld, name: DeviceName, others: readonly Attachment[]): boolean {
  const isThere = world.ports.has(name) || world.devices.get(name)?.kind === 'present';
  return !isThere && others.some((other) => world.ports.has(deviceOf(other)));
}

/** While the API server is away, waiting for a pod does not help. */
function unobserved(world: NodeWorld, { pod }: Attachment, { node }: NodeSettings): Answer {
  const reason = `pod ${pod.namespace}/${pod.name} is not observed on node ${node}`;
  const away = world.failures.get(API_SERVER);
  return away === undefined ? { kind: 'waiting', reason } : { kind: 'refused', reason: `${reason}: ${away}` };
}

/** Port and device stay as they are, where they exist. */
function retained({ namespacePath, interfaceName }: Attachment, name: DeviceName): readonly NodeOutput[] {
  return [
    { kind: 'retained-port', name },
    { kind: 'retained-device', name, namespacePath, innerName: interfaceName },
  ];
}

/** Nothing is emitted, so both are collected; the runtime hears of it when they are gone. */
function removal(world: NodeWorld, attachment: Attachment, name: DeviceName): readonly NodeOutput[] {
  const device = world.devices.get(name);
  const gone = !world.ports.has(name) && (device === undefined || device.kind !== 'present');
  return gone ? [answer(attachment, { kind: 'removed' })] : [];
}

function deviceOutput(
  world: NodeWorld,
  attachment: Attachment,
  name: DeviceName,
  network: PodNetwork,
  routes: readonly DeviceRoute[],
  settings: NodeSettings,
): DeviceOutput {
  const subnet = world.subnets.get(network.subnet);
  return {
    kind: 'device',
    name,
    attachment: attachment.key,
    alias: linkAlias(attachment),
    namespacePath: attachment.namespacePath,
    innerName: attachment.interfaceName,
    mac: network.mac,
    mtu: subnet?.mtu || physicalMtu(world, network, settings) || defaultMtu(world, settings),
    addresses: network.addresses.map(({ ip, cidr }) => `${ip}/${cidr.slice(cidr.indexOf('/') + 1)}`).toSorted(),
    routes,
    checksumOffload: settings.datapath === 'system',
    connected: isInstalled(world, name) && patchMissing(world, network) === undefined,
    detectsDuplicates: !network.migrating,
    probeMs: network.providerNetwork === undefined ? LOGICAL_PROBE_MS : PHYSICAL_PROBE_MS,
    // What runs is not asked again after a restart of the agent.
    gateways: attachment.order > 0 && !network.migrating ? network.gateways : [],
    needsGateways: subnet?.checksGateway !== false,
    ...(network.ofMachine && { ofMachine: true }),
  };
}

function portOf(
  world: NodeWorld,
  { containerId, interfaceName, namespacePath, pod, provider, routes }: Attachment,
  name: DeviceName,
  network: PodNetwork,
): PortOutput {
  const { policing, queue } = network.limits;
  const configured = routesText(routes);
  const lost = world.lostQueues.get(name);
  // Open vSwitch makes a queue of a new row alone.
  const isLost = lost !== undefined && lost === world.ports.get(name)?.queue;
  return {
    kind: 'port',
    name,
    bridge: INTEGRATION_BRIDGE,
    externalIds: {
      [portKey.port]: network.port,
      [portKey.vendor]: VENDOR,
      [portKey.podName]: pod.name,
      [portKey.podNamespace]: pod.namespace,
      [portKey.namespacePath]: namespacePath,
      [portKey.addresses]: network.addresses.map(({ ip }) => ip).join(','),
      [portKey.container]: containerId,
      [portKey.interface]: interfaceName,
      [portKey.provider]: provider,
      ...(configured !== undefined && { [portKey.routes]: configured }),
    },
    ...(policing === undefined ? {} : { policing }),
    ...(queue === undefined || isLost ? {} : { queue }),
    mirrored: network.mirrored,
  };
}

function queueOf({ pod }: Attachment, name: DeviceName, { limits: { queue } }: PodNetwork): readonly NodeOutput[] {
  if (queue === undefined) return [];
  return [{ kind: 'queue', name, discipline: queue.kind === 'rate' ? 'htb' : 'netem', pod: `${pod.namespace}/${pod.name}` }];
}

/** Why the interface cannot be used yet; undefined once it can. */
function missingOf(world: NodeWorld, device: DeviceOutput, port: PortOutput, stray: string | undefined): string | undefined {
  const ofDevice = world.failures.get(`device ${device.name}`);
  if (ofDevice !== undefined && stray !== undefined) return `${stray}; ${ofDevice}`;
  const failure = ofDevice ?? world.failures.get(`port ${port.name}`);
  if (failure !== undefined) return `${failure}; kubectl get pods -A -o wide -l app=kiln-agent`;
  const observed = world.devices.get(device.name);
  if (observed?.kind !== 'present') return `device ${device.name} is not there yet`;
  const row = world.ports.get(port.name);
  if (row === undefined) return `port ${port.name} is not in bridge ${port.bridge} yet; ovs-vsctl show`;
  if (row.error !== '') return `Open vSwitch cannot use port ${port.name}: ${row.error}; ovs-vsctl list interface ${port.name}`;
  return undefined;
}

/** With the length of the prefix. */
function networksOf({ addresses }: PodNetwork): readonly string[] {
  return [...new Set(addresses.map(({ cidr }) => cidr))];
}

function eventOf({ pod: { namespace, name } }: Attachment, { uid }: NodePod, reason: EventReason, message: string): ObjectEventOutput {
  return { kind: 'object-event', resource: 'pods', namespace, name, uid, reason, message };
}

/** Why no address is set yet, or an address cannot be used yet. */
function unconnected(
  world: NodeWorld,
  { name, externalIds }: PortOutput,
  { gateways, needsGateways }: DeviceOutput,
  network: PodNetwork,
): string | undefined {
  if (!isInstalled(world, name))
    return `ovn-controller has not installed the flows of logical switch port ${externalIds[portKey.port]} yet; ovn-appctl -t ovn-controller connection-status`;
  const patch = patchMissing(world, network);
  if (patch !== undefined)
    return `port ${patch} to the bridge of the provider network is not there yet; ovs-vsctl list-ports ${INTEGRATION_BRIDGE}`;
  const device = world.devices.get(name);
  if (device?.kind !== 'present') return undefined;
  if (!device.up) return `device ${name} is not up yet`;
  const unset = network.addresses.map(({ ip }) => ip).filter((ip) => !device.addresses.some((address) => address.startsWith(`${ip}/`)));
  if (unset.length > 0) return `address ${unset.join(', ')} is not set on device ${name} yet`;
  const [tentative] = device.tentative ?? [];
  if (tentative !== undefined) return `the kernel still asks whether another host has address ${tentative}`;
  const silent = gateways.filter((gateway) => needsGateways && device.reached?.includes(gateway) !== true);
  return silent.length === 0 ? undefined : `gateway ${silent.join(', ')} has not answered yet`;
}

/** Another program changed what was complete, or a write is still to come: the agent sets it again. */
function changed(world: NodeWorld, device: DeviceOutput): string | undefined {
  const observed = world.devices.get(device.name);
  if (device.ofMachine === true || observed === undefined) return undefined;
  const differing = deviceDifferences(device, observed);
  return differing.length === 0 ? undefined : `device ${device.name} is not yet as it should be: ${differencesText(differing)}`;
}

function isInstalled(world: NodeWorld, name: DeviceName): boolean {
  return world.ports.get(name)?.externalIds[INSTALLED] === 'true';
}

/** The port of ovn-controller to the physical network: without it no host there could answer for an address. */
function patchMissing(world: NodeWorld, { providerNetwork, subnet }: PodNetwork): string | undefined {
  const patch = `patch-${localnetPort(subnet)}-to-${INTEGRATION_BRIDGE}`;
  return providerNetwork !== undefined && !world.ports.has(patch) ? patch : undefined;
}

/** A sandbox whose namespace vanished while its interface was made: the runtime has to make another one. */
function sandboxGone(world: NodeWorld, { name, namespacePath }: DeviceOutput, { order, pod }: Attachment): string | undefined {
  if (order === 0 || world.devices.get(name)?.kind !== 'no-namespace') return undefined;
  return `network namespace ${namespacePath} of pod ${pod.namespace}/${pod.name} does not exist: its sandbox is gone, and the runtime makes another one`;
}

/** Another program's device has the name of one end: no attempt succeeds until it is gone. */
function nameTaken(world: NodeWorld, { name, innerName, namespacePath }: DeviceOutput, { pod }: Attachment): string | undefined {
  const observed = world.devices.get(name);
  if (observed?.kind !== 'absent' || observed.taken === undefined) return undefined;
  const of = `pod ${pod.namespace}/${pod.name}`;
  if (observed.taken === 'on-node')
    return `device ${name} of the node, which the interface of ${of} would be, is another program's: remove it, or create the pod again; ${commandText`ip -details link show dev ${name}`}`;
  return `network namespace ${namespacePath} of ${of} has a device ${innerName} already, which another program made: take it out of the network configuration, or give the interface another name; ${commandText`nsenter --net=${namespacePath} ip -details link show dev ${innerName}`}`;
}

/** Which other host has an address of the pod. A pod of this node is named. */
function duplicateOf(world: NodeWorld, { name }: DeviceOutput, { pod }: Attachment): string | undefined {
  const device = world.devices.get(name);
  const [duplicate] = (device?.kind === 'present' && device.duplicates) || [];
  if (duplicate === undefined) return undefined;
  const { address, holder } = duplicate;
  const mac = holder === '' ? '' : ` with MAC address ${holder}`;
  const ours = [...world.pods.keys()].filter((key) => key !== `${pod.namespace}/${pod.name}` && hasMac(world, key, holder));
  const who = ours.length === 0 ? '' : `: pod ${ours.join(', ')}`;
  return `address ${address} of pod ${pod.namespace}/${pod.name} is in use: another host of its network has it${mac}${who}; kubectl get ips lists those of pods. Take the address from that host, or add it to excludeIps of the Subnet and create the pod again`;
}

/** Read for the one pod that has a duplicate. */
function hasMac(world: NodeWorld, pod: string, mac: string): boolean {
  return (
    mac !== '' &&
    Object.entries(world.pods.get(pod)?.annotations ?? {}).some(([key, value]) => key.endsWith('/mac_address') && value === mac)
  );
}

function replyOf({ addresses }: PodNetwork, routes: readonly DeviceRoute[], device?: DeviceOutput): InterfaceReply {
  return {
    ips: addresses,
    routes: routes.map(({ destination, gateway }) => ({ dst: destination, gw: gateway })),
    ...(device === undefined ? {} : { mac_address: device.mac, mtu: device.mtu, nicname: device.innerName }),
  };
}

/** Of a physical network, as the node's label has it; undefined for others, and where packets may go through a tunnel. */
function physicalMtu(world: NodeWorld, { providerNetwork, subnet }: PodNetwork, { node }: NodeSettings): number | undefined {
  const { overlay = false, interconnection } = world.subnets.get(subnet) ?? {};
  if (providerNetwork === undefined || overlay || interconnection !== undefined) return undefined;
  return Number(world.nodes.get(node)?.labels[`${providerNetwork}.provider-network.kubernetes.io/mtu`]) || PHYSICAL_MTU;
}

/** Why the MTU of a Subnet would lose packets between nodes. What runs keeps its interface. */
function mtuBreach(world: NodeWorld, { order, pod }: Attachment, { subnet }: PodNetwork, settings: NodeSettings): string | undefined {
  const { mtu = 0, overlay = false } = world.subnets.get(subnet) ?? {};
  const problem = order > 0 && overlay && mtu > 0 ? mtuProblem(world, settings, mtu) : undefined;
  if (problem === undefined) return undefined;
  const next = commandText`kubectl edit subnet ${subnet}`;
  return `mtu ${mtu} of Subnet ${subnet} is too large for pod ${pod.namespace}/${pod.name}: ${problem}; ${next}`;
}

function answer({ key }: Attachment, state: AnswerOutput['answer']): AnswerOutput {
  return { kind: 'answer', attachment: key, answer: state };
}
