import type { InterfaceRequest } from '../../cni/agent-protocol.ts';

/** Fields that ask for an interface that the agent does not make. */
const UNSUPPORTED = [
  ['deviceID', 'SR-IOV'],
  ['vf_driver', 'SR-IOV'],
  ['vhost_user_socket_volume_name', 'DPDK'],
  ['vhost_user_socket_name', 'DPDK'],
] as const;

/** Why no ADD with this request, which is well formed, can succeed, as a sentence for the pod's Event. */
export function requestProblem(request: InterfaceRequest): string | undefined {
  const of = `interface ${request.if_name} of pod ${request.pod_namespace}/${request.pod_name}`;
  for (const [field, what] of UNSUPPORTED)
    if ((request[field] ?? '') !== '')
      return `${of} is for ${what} (${field} ${JSON.stringify(request[field])} of its network configuration), which the node agent does not implement; remove the field, or leave the network out of the pod`;
  return undefined;
}
