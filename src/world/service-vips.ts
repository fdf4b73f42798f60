/** The addresses and ports of Services in OVN: the keys in load balancers. */
import type { Service } from '../api/kubernetes/core.ts';
import { annotationKey } from '../api/well-known.ts';
import { splitList } from '../net/dual.ts';

/** Protocol, address and port of an entry in a load balancer. An empty protocol is OVN's default. */
export function vipText(protocol: string, key: string): string {
  return `${protocol === '' ? 'tcp' : protocol.toLowerCase()} ${key}`;
}

/** Every entry that Kube-OVN makes for a Service, by any of its options; the object is as the API server has it. */
export function vipsOfService({ metadata, spec, status }: Pick<Service, 'metadata'> & Partial<Service>): readonly string[] {
  const { clusterIP = '', clusterIPs = [clusterIP], ports = [] } = spec ?? {};
  const { annotations = {} } = metadata;
  const annotated = [annotations[annotationKey.switchLbVip], annotations[annotationKey.routerLbVip]].flatMap((text) =>
    splitList(text ?? ''),
  );
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
  const addresses = new Set([...annotated, ...clusterIPs, ...ingress].filter((text) => text !== '' && text !== 'None'));
  return [...addresses].flatMap((address) =>
    ports.map(({ protocol = 'TCP', port }) => vipText(protocol, `${address.includes(':') ? `[${address}]` : address}:${port}`)),
  );
}
