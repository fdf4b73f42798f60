/**
 * I3 for Services: each address and port of one is a vip of the load balancer of its protocol and affinity, in each of its Vpcs and in no
 * other one, with the endpoints that kube-proxy would choose; and a load balancer of a Vpc has no other vip.
 */
import type { EndpointSlice, Service } from '../../../api/kubernetes/core.ts';
import type { Violation } from '../../../invariants/violation.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { World } from '../../../world/world.ts';
import { API_SERVER } from '../../../world/world.ts';
import { endpointsByVpc } from './service-endpoints.ts';
import { isLoadBalanced, servicePorts } from './service-ports.ts';

/** Endpoints by vip. */
type Vips = Map<string, readonly string[]>;

export function serviceVips(world: World): readonly Violation[] {
  const expected = expectedVips(world);
  return [...world.vpcs.entries()].flatMap(([vpc, { metadata, status }]) =>
    Object.entries(status ?? {}).flatMap(([field, name]) => {
      if (!field.endsWith('LoadBalancer') || typeof name !== 'string' || name === '') return [];
      const balancer = world.rows.best(rowId('Load_Balancer', name));
      const ownership = balancer?.ownership;
      if (balancer === undefined || ownership?.kind !== 'ours' || ownership.uid !== metadata.uid) return [];
      if (ownership.owner !== `vpc//${vpc}`) return [];
      const { vips } = balancer.row;
      const held = vips instanceof Map ? (vips as ReadonlyMap<string, string>) : new Map<string, string>();
      const wanted = expected.get(`${vpc} ${field}`) ?? new Map<string, readonly string[]>();
      return [...new Set([...wanted.keys(), ...held.keys()])].flatMap((vip): readonly Violation[] => {
        const [is, should] = [held.get(vip), wanted.get(vip)];
        const has = is === undefined ? 'is missing' : `has endpoints "${is}"`;
        const subject = `Load_Balancer ${name}`;
        if (should === undefined)
          return [{ invariant: 'I3', subject, message: `vip ${vip} of ${subject} ${has}, and is of no Service there` }];
        if (is !== undefined && is.split(',').filter(Boolean).toSorted().join() === should.join()) return [];
        return [{ invariant: 'I3', subject, message: `vip ${vip} of ${subject} ${has}, and its Service has "${should.join()}"` }];
      });
    }),
  );
}

/** By Vpc and the field of its status that names the load balancer. */
function expectedVips(world: World): ReadonlyMap<string, Vips> {
  const found = new Map<string, Vips>();
  const slices = Map.groupBy(
    [...world.endpointSlices.entries()].map(([, slice]) => slice),
    serviceOf,
  );
  // Without a slice for the API server none are observed: this cluster's server has none, or an older version of them.
  if (!world.settings.enableLb || !slices.has(API_SERVER)) return found;
  for (const [key, service] of world.services.entries()) {
    if (!isLoadBalanced(service)) continue;
    for (const [vpc, endpoints] of endpointsByVpc(world, service, slices.get(key) ?? []))
      for (const port of servicePorts(service)) {
        const balancer = `${vpc} ${port.protocol.toLowerCase()}${affinity(service)}LoadBalancer`;
        const vips = found.get(balancer) ?? new Map<string, readonly string[]>();
        found.set(balancer, vips.set(port.vip, port.chosen(endpoints)));
      }
  }
  return found;
}

function affinity({ spec }: Service): string {
  return spec.sessionAffinity === 'ClientIP' ? 'Session' : '';
}

function serviceOf({ metadata }: EndpointSlice): string {
  return `${metadata.namespace ?? ''}/${metadata.labels?.['kubernetes.io/service-name'] ?? ''}`;
}
