/**
 * The vips of Services: in the load balancers of each Vpc, one key for each address and port of a Service, with the endpoints that get
 * packets; in Vpcs that have the endpoints, addresses from outside too. A vip without endpoints stays, and refuses at once (option `reject` of the load balancer), as kube-proxy does.
 *
 * Cost: one run for a change of a Service or of its slices; one key for each address and port whose endpoints differ.
 */
import { keysOf } from '../../engine/domain.ts';
import { endpointText } from '../../world/service-vips.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { KeyOutput } from '../output.ts';
import { emittedVpc } from '../vpc/vpc-state.ts';
import { loadBalancerId, loadBalancersOf } from '../vpc/vpc-load-balancers.ts';
import type { ServiceEndpoint } from './service-endpoints.ts';
import { carriesServices, serviceEndpoints, usable } from './service-endpoints.ts';
import { endpointsByVpc } from './service-vpcs.ts';
import { externalVips } from './external-vips.ts';
import type { ServiceAddress, ServiceView } from './service-view.ts';
import { serviceView } from './service-view.ts';

const NAME = 'service-vips';

export const serviceVips: Rule = {
  name: NAME,
  over: (world) => keysOf(world.services),
  run: (world, key) => {
    const service = world.ask(serviceView, key);
    if (service === undefined || service.addresses.length === 0 || !carriesServices(world)) return [];
    const byVpc = endpointsByVpc(world, service, world.ask(serviceEndpoints, key));
    return [...byVpc].flatMap(([vpc, endpoints]) => {
      const external = externalVips(world, vpc, service, endpoints);
      return vipsIn(world, vpc, service, service.isLocal ? external : [...service.addresses, ...external], endpoints);
    });
  },
};

function vipsIn(
  world: World,
  vpc: string,
  service: ServiceView,
  addresses: readonly ServiceAddress[],
  endpoints: readonly ServiceEndpoint[],
): readonly KeyOutput[] {
  if (addresses.length === 0 || emittedVpc(world, vpc) === undefined) return [];
  const balancers = loadBalancersOf(world, vpc).filter(({ session }) => session === service.hasAffinity);
  return service.ports.flatMap(({ name, protocol, port }) => {
    const balancer = balancers.find((one) => one.protocol === protocol.toLowerCase());
    if (balancer === undefined) return [];
    const ofPort = endpoints.filter((one) => one.portName === name && one.protocol === protocol);
    return addresses.map(({ address, family }): KeyOutput => {
      const backends = usable(ofPort.filter((one) => one.family === family));
      return {
        kind: 'member',
        row: loadBalancerId(balancer.name),
        column: 'vips',
        member: { key: endpointText(address, port), value: backends.map((one) => endpointText(one.address, one.port)).join(',') },
        owner: service.owner,
        rule: NAME,
      };
    });
  });
}
