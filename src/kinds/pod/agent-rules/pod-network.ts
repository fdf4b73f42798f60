/** What a pod's annotations say about one of its interfaces. */
import { commandText } from '../../../text/command-text.ts';
import { annotationKey, podAnnotation, type PodAnnotationSuffix } from '../../../api/well-known.ts';
import { isOvnProvider, portName } from '../../../api/names.ts';
import { bitsOf, canonicalAddress, parseAddress } from '../../../net/address.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { parseMac } from '../../../net/mac.ts';
import type { AddressReply } from '../../../cni/agent-protocol.ts';
import type { Attachment } from '../../../agent/world/attachment.ts';
import type { NodePod } from '../agent-table.ts';
import type { DeviceRoute } from '../../../agent/world/outputs.ts';
import { podLimits, type PodLimits } from './pod-limits.ts';
import { routesIn } from './pod-routes.ts';

/** An interface that the controller has bound. In a Subnet without a network it has a MAC address alone. */
export interface PodNetwork {
  readonly kind: 'bound';
  /** Name of the logical switch port. */
  readonly port: string;
  readonly subnet: string;
  /** Empty where another plugin makes the interface. */
  readonly mac: string;
  /** Another plugin makes the interface, and asks for addresses alone. */
  readonly addressesOnly: boolean;
  /** Those of the pod's annotation. */
  readonly routes: readonly DeviceRoute[];
  readonly limits: PodLimits;
  readonly mirrored: boolean;
  /** In the order of the annotation. A gateway only where the interface has the default route. */
  readonly addresses: readonly AddressReply[];
  /** Of its networks. */
  readonly gateways: readonly string[];
  /** A live migration: the other side has the addresses for now. */
  readonly migrating: boolean;
  /** The launcher of a virtual machine has its interface, or a runtime that may have a network of its own. */
  readonly ofMachine: boolean;
  /** The physical network that it is in, through a port with a patch to its bridge; undefined if its packets go through routers of OVN. */
  readonly providerNetwork: string | undefined;
}

export type PodNetworkState =
  | PodNetwork
  /** `ofLimits`: what is wrong are the limits alone. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly ofLimits?: true }
  /** It is asked for what the agent does not do. */
  | { readonly kind: 'unsupported'; readonly reason: string };

/** Kinds of interfaces that are a pair of devices. */
const PAIRS: readonly string[] = ['', 'veth-pair'];

export const DEFAULT_INTERFACE = 'eth0';

/** Pure; the annotations are the controller's, and a wrong one is a reason to wait for it to write them again. */
export function podNetwork(pod: NodePod, attachment: Attachment): PodNetworkState {
  const { interfaceName } = attachment;
  const named = `${attachment.provider}.${interfaceName}`;
  // Two attachments of one network have keys with the name of the interface.
  const provider = pod.annotations[podAnnotation(named, 'ip_address')] === undefined ? attachment.provider : named;
  const value = (suffix: PodAnnotationSuffix): string => pod.annotations[podAnnotation(provider, suffix)] ?? '';
  const shared = (suffix: PodAnnotationSuffix): string => pod.annotations[podAnnotation(attachment.provider, suffix)] ?? '';
  const waiting = (suffix: PodAnnotationSuffix, what: string): PodNetworkState & { readonly kind: 'waiting' } => ({
    kind: 'waiting',
    reason: `annotation ${podAnnotation(provider, suffix)} of the pod ${what}; ${commandText`kiln explain pod ${attachment.pod.name} -n ${attachment.pod.namespace}`}`,
  });
  if (value('allocated') !== 'true') return waiting('allocated', 'is not "true": it has no address yet');
  const hasDefaultRoute = shared('default_route') === '' ? interfaceName === DEFAULT_INTERFACE : shared('default_route') === 'true';
  const addressesOnly = !isOvnProvider(attachment.provider);
  const kind = shared('pod_nic_type').trim();
  if (!PAIRS.includes(kind))
    return {
      kind: 'unsupported',
      reason: `annotation ${podAnnotation(attachment.provider, 'pod_nic_type')} of the pod is "${kind}", which the node agent does not implement; it makes veth-pair`,
    };
  const isMacOnly = !addressesOnly && value('ip_address') === '' && value('cidr') === '';
  if (hasDefaultRoute && !addressesOnly && !isMacOnly && shared('routed') !== 'true')
    return waiting('routed', 'is not "true": its port is not ready yet');
  const mac = addressesOnly ? '' : parseMac(value('mac_address'));
  if (mac === undefined) return waiting('mac_address', `is ${JSON.stringify(value('mac_address'))}, which is no MAC address`);
  const [ips, cidrs, gateways] = [splitList(value('ip_address')), splitList(value('cidr')), splitList(value('gateway'))];
  const addresses: AddressReply[] = [];
  const asked: string[] = [];
  for (const ip of ips) {
    const address = parseAddress(ip);
    const text = canonicalAddress(ip);
    if (address === undefined || text === undefined) return waiting('ip_address', `has ${JSON.stringify(ip)}, which is no address`);
    // Each family for itself: lists of both are not always in the same order.
    const cidr = cidrs.find((one) => parseCidr(one)?.family === address.family);
    if (cidr === undefined) return waiting('cidr', `is ${JSON.stringify(value('cidr'))}, without the network of ${ip}`);
    const gateway = gateways.find((one) => parseAddress(one)?.family === address.family);
    if (gateway !== undefined) asked.push(canonicalAddress(gateway) ?? gateway);
    addresses.push({
      protocol: bitsOf(address.family) === 32 ? 'IPv4' : 'IPv6',
      ip: text,
      cidr,
      ...(hasDefaultRoute && gateway !== undefined ? { gateway: canonicalAddress(gateway) ?? gateway } : {}),
    });
  }
  if (addresses.length === 0 && !isMacOnly) return waiting('ip_address', 'is empty');
  const limits = podLimits(value);
  if (limits.kind === 'invalid') return { ...waiting(limits.suffix, limits.problem), ofLimits: true };
  const routes = routesIn(shared('routes'));
  if (routes === undefined) return waiting('routes', 'is no JSON list of routes such as [{"dst":"10.0.0.0/8","gw":"10.16.0.254"}]');
  // Anyone who edits the pod may write the annotation, and the port of another machine would come here.
  const isMachine = pod.machine !== undefined && value('virtualmachine') === pod.machine;
  const owner = isMachine ? pod.machine : attachment.pod.name;
  return {
    kind: 'bound',
    port: portName(owner, attachment.pod.namespace, provider),
    subnet: value('logical_switch'),
    mac,
    addressesOnly,
    limits: limits.limits,
    mirrored: shared('mirror').trim() === 'true',
    routes,
    addresses,
    gateways: asked,
    ofMachine: isMachine || pod.ofRuntimeClass === true,
    migrating: pod.annotations[annotationKey.migrationJob] !== undefined || shared('activation_strategy') !== '',
    providerNetwork: value('logical_router') === '' && value('provider_network') !== '' ? value('provider_network') : undefined,
  };
}
