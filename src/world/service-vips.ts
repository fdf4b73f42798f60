/** The addresses and ports of Services in OVN: the keys in load balancers. */
import type { Service } from '../api/kubernetes/core.ts';
import { annotationKey } from '../api/well-known.ts';
import type { Address } from '../net/address.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';

/** Protocol, address and port of an entry in a load balancer. An empty protocol is OVN's default. */
export function vipText(protocol: string, key: string): string {
  return `${protocol === '' ? 'tcp' : protocol.toLowerCase()} ${key}`;
}

/** An address and a port as OVN writes them: `10.0.0.1:80`, `[fd00::1]:80`. */
export function endpointText(address: string, port: number): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** An address as Services have it: old objects have octets with leading zeros, which the API server reads as decimal numbers. */
export function serviceAddress(text: string): Address | undefined {
  return parseAddress(text.includes(':') ? text : text.replaceAll(/\b0+(?=\d)/g, ''));
}

type AnyService = Pick<Service, 'metadata'> & Partial<Service>;

/** By options of Kube-OVN that are not implemented yet: annotations of its rules. */
function addressesByOption({ metadata: { annotations = {} } }: AnyService): readonly string[] {
  const annotated = [annotations[annotationKey.switchLbVip], annotations[annotationKey.routerLbVip]];
  return canonical(annotated.flatMap((text) => splitList(text ?? '')));
}

function addressesOf(service: AnyService): readonly string[] {
  const { externalIPs = [] } = service.spec ?? {};
  const ingress = (service.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  return [...new Set([...addressesByOption(service), ...clusterAddressesOf(service), ...canonical([...externalIPs, ...ingress])])];
}

/** Those that the cluster gave the Service, canonical. */
export function clusterAddressesOf({ spec }: Partial<Service>): readonly string[] {
  const { type, clusterIP = '', clusterIPs = [clusterIP] } = spec ?? {};
  return type === 'ExternalName' ? [] : canonical(clusterIPs);
}

/**
 * The addresses from outside of the cluster that pods reach as vips, canonical: `externalIPs`, and those of a load balancer. Not those of one
 * with `loadBalancerSourceRanges`, which a vip would not keep to, nor of one that wants packets to pass it (`ipMode: Proxy`). With
 * `externalTrafficPolicy: Local` pods reach the endpoints of all nodes, as with kube-proxy: the policy is for clients outside.
 */
export function externalAddressesOf({ spec, status }: Partial<Service>): readonly string[] {
  const { type, externalIPs = [], loadBalancerSourceRanges: ranges = [] } = spec ?? {};
  if (type === 'ExternalName') return [];
  const ingress = type === 'LoadBalancer' && ranges.length === 0 ? (status?.loadBalancer?.ingress ?? []) : [];
  const ofBalancer = ingress.flatMap(({ ip = '', ipMode = 'VIP' }) => (ipMode === 'VIP' ? [ip] : []));
  return [...new Set(canonical([...externalIPs, ...ofBalancer]))];
}

function canonical(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const address = serviceAddress(text);
    return address === undefined ? [] : [formatAddress(address)];
  });
}

function withPorts({ spec }: AnyService, addresses: readonly string[]): readonly string[] {
  return addresses.flatMap((address) =>
    (spec?.ports ?? []).map(({ protocol = 'TCP', port }) => vipText(protocol, endpointText(address, port))),
  );
}

/** Every entry that Kube-OVN makes for a Service, by any of its options; the object is as the API server has it. */
export function vipsOfService(service: AnyService): readonly string[] {
  return withPorts(service, addressesOf(service));
}

/** Of these, the entries that Kiln leaves as they are, since it does not implement the option yet. */
export function vipsByOption(service: AnyService): readonly string[] {
  return withPorts(service, addressesByOption(service));
}
