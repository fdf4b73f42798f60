/**
 * The six Load_Balancers of a Vpc: TCP, UDP and SCTP, each without and with session affinity. Their vips come from Services.
 *
 * Affinity is a hash of the client's address. Kube-OVN's option `affinity_timeout` loses the first connection of each client through a vip on
 * a switch (OVN 23.03 to 26.03, see docs/differences.md): the rows that it wrote lose it when they are adopted.
 */
import type { LoadBalancerProtocol } from '../../api/names.ts';
import { clusterLoadBalancer, vpcLoadBalancer } from '../../api/names.ts';
import { LOAD_BALANCERS_RULE } from '../../nb/ownership.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { carriesServices } from '../service/service-endpoints.ts';
import { emittedVpc } from './vpc-state.ts';
import { vpcOwner } from './vpc-view.ts';

export interface VpcLoadBalancer {
  readonly name: string;
  readonly protocol: LoadBalancerProtocol;
  readonly session: boolean;
  /** Field of Vpc.status with its name. */
  readonly statusField: string;
}

const PROTOCOLS: readonly LoadBalancerProtocol[] = ['tcp', 'udp', 'sctp'];

/** Empty if load balancing is off. */
export function loadBalancersOf(world: World, vpc: string): readonly VpcLoadBalancer[] {
  if (!world.settings.enableLb) return [];
  const isDefault = vpc === world.settings.defaultVpc;
  return [false, true].flatMap((session) =>
    PROTOCOLS.map((protocol) => ({
      name: isDefault ? clusterLoadBalancer(protocol, session) : vpcLoadBalancer(vpc, protocol, session),
      protocol,
      session,
      statusField: `${protocol}${session ? 'SessionLoadBalancer' : 'LoadBalancer'}`,
    })),
  );
}

export function loadBalancerId(name: string): RowId {
  return rowId('Load_Balancer', name);
}

/** By field, those that the status of the Vpc names. */
const namedLoadBalancers: Query<Readonly<Record<string, unknown>>> = defineQuery('vpc-named-load-balancers', (world, vpc) => {
  const status = (world.vpcs.get(vpc)?.status ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(status).filter(([field]) => field.endsWith('LoadBalancer')));
});

export const vpcLoadBalancers: Rule = {
  name: LOAD_BALANCERS_RULE,
  over: (world) => keysOf(world.vpcs),
  run: (world, vpc) => {
    const emitted = emittedVpc(world, vpc);
    if (emitted === undefined) return [];
    const isFilled = carriesServices(world);
    const owner = vpcOwner(emitted.view);
    return loadBalancersOf(world, vpc).map(({ name, protocol, session, statusField }) => ({
      kind: 'row',
      id: loadBalancerId(name),
      owner,
      rule: LOAD_BALANCERS_RULE,
      ...(world.ask(namedLoadBalancers, vpc)[statusField] === name && { named: true }),
      columns: {
        name,
        protocol,
        // Then entries that no Service has are left over, and go by the plan of the collection.
        ...(isFilled && { vips: {} }),
        selection_fields: session ? ['ip_src', 'ipv6_src'] : [],
        options: {
          prefer_local_backend: 'false',
          // A vip without endpoints refuses at once, as kube-proxy does.
          reject: 'true',
          // A client of a backend that is gone is at another one with its next datagram, with affinity too.
          ...(protocol === 'udp' && { ct_flush: 'true' }),
        },
      },
    }));
  },
};
