/** The fields of a Service that its vips depend on: a status or an annotation of another program runs no rule again. */
import type { Protocol } from '../../api/kubernetes/core.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../api/well-known.ts';
import type { Family } from '../../net/address.ts';
import { clusterAddressesOf, externalAddressesOf } from '../../world/service-vips.ts';
import { API_SERVER, defineQuery } from '../../world/world.ts';
import type { Query } from '../../world/world.ts';
import type { RowOwner } from '../output.ts';

export interface ServiceAddress {
  /** Canonical. */
  readonly address: string;
  readonly family: Family;
}

export interface ServicePortView {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

export interface ServiceView {
  readonly owner: RowOwner;
  readonly namespace: string;
  readonly name: string;
  /** Its addresses in the cluster; none for a headless Service or an ExternalName. */
  readonly addresses: readonly ServiceAddress[];
  /** From outside: `externalIPs`, and those of a load balancer. */
  readonly external: readonly ServiceAddress[];
  readonly ports: readonly ServicePortView[];
  readonly hasAffinity: boolean;
  /** Only endpoints of the client's node serve it. */
  readonly isLocal: boolean;
  /** The Vpc that its annotations name: with a Subnet for all of its endpoints, else for those of no pod. Empty for none. */
  readonly vpc: string;
  readonly isVpcForAll: boolean;
}

/** Undefined if there is no such Service. */
export const serviceView: Query<ServiceView | undefined> = defineQuery('service-view', (world, key) => {
  const service = world.services.get(key);
  if (service === undefined) return undefined;
  const { metadata, spec } = service;
  const { namespace = '', name, uid, creationTimestamp: created, annotations = {} } = metadata;
  const router = annotations[podAnnotation(DEFAULT_PROVIDER, 'logical_router')] ?? '';
  const isVpcForAll = router !== '' && (annotations[podAnnotation(DEFAULT_PROVIDER, 'logical_switch')] ?? '') !== '';
  return {
    owner: { kind: 'service', namespace, name, uid, created },
    namespace,
    name,
    addresses: clusterAddressesOf(service).map(withFamily),
    external: externalAddressesOf(service).map(withFamily),
    ports: (spec.ports ?? []).map(({ name: port = '', protocol = 'TCP', port: number }) => ({ name: port, protocol, port: number })),
    hasAffinity: spec.sessionAffinity === 'ClientIP',
    isLocal: spec.internalTrafficPolicy === 'Local',
    vpc: isVpcForAll ? router : (annotations[annotationKey.vpc] ?? ''),
    isVpcForAll,
  };
});

/** The addresses by which pods reach the API server; none while its Service is not observed. */
export const apiServerAddresses: Query<readonly string[]> = defineQuery('api-server-addresses', (world) => {
  const service = world.services.get(API_SERVER);
  return service === undefined ? [] : clusterAddressesOf(service);
});

function withFamily(address: string): ServiceAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}
