/** The addresses and ports of Services in OVN: the keys in load balancers. */
import type { Service } from '../api/kubernetes/core.ts';
import { annotationKey } from '../api/well-known.ts';
import type { Address } from '../net/address.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import type { World } from './world.ts';

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

/** By options of Kube-OVN that are not implemented yet: annotations of its rules, and addresses of load balancers. */
function addressesByOption({ metadata: { annotations = {} }, status }: AnyService): readonly string[] {
  const annotated = [annotations[annotationKey.switchLbVip], annotations[annotationKey.routerLbVip]];
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  return [...annotated.flatMap((text) => splitList(text ?? '')), ...ingress].flatMap(canonical);
}

function addressesOf(service: AnyService): readonly string[] {
  const { clusterIP = '', clusterIPs = [clusterIP] } = service.spec ?? {};
  return [...new Set([...addressesByOption(service), ...clusterIPs.flatMap(canonical)])];
}

function canonical(text: string): readonly string[] {
  const address = serviceAddress(text);
  return address === undefined ? [] : [formatAddress(address)];
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

/** The Service that an entry of a load balancer is of. */
export interface VipHolder {
  /** `namespace/name`. */
  readonly service: string;
  /** By an option that is not implemented yet: the entry stays as it is. */
  readonly isByOption: boolean;
}

/** Of several the one with an option. Cost: constant, but for Services of one address. */
export function holderOfVip({ services }: World, vip: string): VipHolder | undefined {
  let found: VipHolder | undefined;
  for (const key of services.peekBucket('vip', vip)) {
    const service = services.peek(key);
    if (service === undefined) continue;
    const isByOption = vipsByOption(service).includes(vip);
    if (found === undefined || isByOption) found = { service: key, isByOption };
  }
  return found;
}
