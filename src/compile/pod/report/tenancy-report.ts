/**
 * Running pods with what the setting `tenancy` excludes for new ones: they were bound before the setting, or before a Subnet or Vpc listed
 * other namespaces. They keep their network and report it.
 */
import type { Reason } from '../../../api/reasons.ts';
import type { World } from '../../../world/world.ts';
import type { Binding } from '../address/pod-binding.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { excludedPortValues } from '../tenancy/port-tenancy.ts';
import type { Exclusion } from '../tenancy/tenancy.ts';
import { excludedFromNetwork, excludedFromSubnet } from '../tenancy/tenancy.ts';
import { commandText } from '../../../text/command-text.ts';

export function outsideTenancy(
  world: World,
  bindings: readonly Pick<Binding, 'nic' | 'durable'>[],
): { readonly reason: Reason; readonly message: string } | undefined {
  if (world.settings.tenancy === 'open') return undefined;
  for (const { nic, durable } of bindings) {
    if (durable === undefined || nic.pod.terminating) continue;
    const { subnet } = durable.addresses;
    const exclusion = excludedFrom(world, nic, subnet);
    if (exclusion !== undefined) {
      const { namespace, name } = nic.pod;
      const message = `Pod ${nic.pod.key} runs in a network that is not its namespace's: ${exclusion.message}. It keeps its network as long as it runs, and the next pod is not admitted; ${commandText`kubectl delete pod -n ${namespace} ${name}`}`;
      return { reason: exclusion.reason, message };
    }
    const [excluded] = excludedPortValues(world, nic, subnet);
    if (excluded !== undefined)
      return {
        reason: excluded.reason,
        message: `${excluded.message}. What its port had before stays as long as the pod runs, the rest is not in effect, and the next pod does not get it`,
      };
  }
  return undefined;
}

function excludedFrom(world: World, nic: PodInterface, subnet: string): Exclusion | undefined {
  return excludedFromSubnet(world, nic.pod.namespace, subnet) ?? excludedFromNetwork(world, nic);
}
