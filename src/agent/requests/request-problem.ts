import type { InterfaceRequest } from '../../cni/agent-protocol.ts';
import { routeOf } from '../rules/device-route.ts';

/** Fields that ask for an interface that the agent does not make. */
const UNSUPPORTED = [
  ['deviceID', 'SR-IOV'],
  ['vf_driver', 'SR-IOV'],
  ['vhost_user_socket_volume_name', 'DPDK'],
  ['vhost_user_socket_name', 'DPDK'],
] as const;

/** Why no ADD with this request can succeed, as a sentence for the pod's Event. */
export function requestProblem(request: InterfaceRequest): string | undefined {
  const of = `interface ${request.if_name} of pod ${request.pod_namespace}/${request.pod_name}`;
  for (const [field, what] of UNSUPPORTED)
    if ((request[field] ?? '') !== '')
      return `${of} is for ${what} (${field} ${JSON.stringify(request[field])} of its network configuration), which the node agent does not implement; remove the field, or leave the network out of the pod`;
  if (request.net_ns === '') return `${of} has no network namespace: field net_ns of the request is empty`;
  const routes: unknown = request.routes ?? [];
  if (!Array.isArray(routes)) return `field routes of the network configuration of ${of} is no list`;
  for (const route of routes as readonly { readonly dst?: unknown; readonly gw?: unknown }[]) {
    if (typeof route.dst === 'string' && typeof route.gw === 'string' && routeOf(route.dst, route.gw) !== undefined) continue;
    return `route ${JSON.stringify(route)} of the network configuration of ${of} is none: dst is a network and gw an address of its family`;
  }
  return undefined;
}
