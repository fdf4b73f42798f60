/** The addresses and ports of a Service, and which endpoints each one leads to: as Kubernetes documents it, without the rules' code. */
import type { Protocol, Service } from '../../../api/kubernetes/core.ts';
import { formatAddress, parseAddress } from '../../../net/address.ts';
import type { PlainEndpoint } from './service-endpoints.ts';

export interface PlainPort {
  readonly protocol: Protocol;
  /** As OVN writes it. */
  readonly vip: string;
  /** Of these endpoints, those that get packets, sorted. */
  readonly chosen: (endpoints: readonly PlainEndpoint[]) => readonly string[];
}

/** Not headless, no alias, and served by endpoints of every node. */
export function isLoadBalanced({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && spec.clusterIP !== 'None' && spec.internalTrafficPolicy !== 'Local';
}

export function servicePorts({ spec }: Service): readonly PlainPort[] {
  const addresses = spec.clusterIPs ?? [spec.clusterIP ?? ''];
  return addresses.flatMap((text) => {
    const address = parseAddress(text);
    if (address === undefined) return [];
    const ip = formatAddress(address);
    return (spec.ports ?? []).map(({ name = '', protocol = 'TCP', port }): PlainPort => {
      const isOf = (one: PlainEndpoint): boolean => one.portName === name && one.protocol === protocol && isV6(one.address) === isV6(ip);
      return { protocol, vip: joined(ip, port), chosen: (endpoints) => chosen(endpoints.filter(isOf)) };
    });
  });
}

/** The ready ones; without any, those that end and still serve. One that two slices have counts as the better of both. */
function chosen(endpoints: readonly PlainEndpoint[]): readonly string[] {
  const ready = endpoints.filter((one) => one.ready);
  const used = ready.length > 0 ? ready : endpoints.filter(({ serving, terminating }) => serving && terminating);
  return [...new Set(used.map(({ address, port }) => joined(address, port)))].toSorted();
}

function isV6(address: string): boolean {
  return address.includes(':');
}

function joined(address: string, port: number): string {
  return isV6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}
