/**
 * Vips and EIPs for `kiln release`: their address and its users.
 */
import type { IptablesEIP } from '../../../api/kinds/iptables-eip.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { OvnEip } from '../../../api/kinds/ovn-eip.ts';
import type { Vip } from '../../../api/kinds/vip.ts';
import { annotationKey } from '../../../api/well-known.ts';
import { isFinished } from '../../../compile/pod/view/pod-life.ts';
import { isKubeError } from '../../../kube/errors.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { PODS } from '../../../kube/resource.ts';
import { splitList } from '../../../net/dual.ts';
import type { AddressObject, AddressResource } from '../../../world/address-objects.ts';
import { iptablesEipAddresses } from '../../iptables-eip/table/iptables-eip-addresses.ts';
import { ovnEipAddresses } from '../../ovn-eip/table/ovn-eip-addresses.ts';
import { vipAddresses } from '../../vip/table/vip-addresses.ts';
import type { NatRule, NatRuleResource } from '../../../world/nat-rules.ts';
import { eipOfRule, vipOfRule, natRulesOf } from '../../../world/nat-rules.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { Settings } from '../../../world/settings.ts';

/** The kinds as typed before a slash. */
const KINDS: ReadonlyMap<string, AddressResource> = new Map([
  ['vip', 'vips'],
  ['vips', 'vips'],
  ['ovn-eip', 'ovn-eips'],
  ['ovn-eips', 'ovn-eips'],
  ['oeip', 'ovn-eips'],
  ['iptables-eip', 'iptables-eips'],
  ['iptables-eips', 'iptables-eips'],
  ['eip', 'iptables-eips'],
]);
/** NAT rules that may name a Vip. */
const VIP_RULES: readonly NatRuleResource[] = ['ovn-fips', 'ovn-snat-rules', 'ovn-dnat-rules'];

/** Kind and name of `vip/db`; undefined for the name of an IP object, which has no slash. */
export function namedObject(target: string): { readonly resource: AddressResource; readonly name: string } | undefined {
  const at = target.indexOf('/');
  const resource = at === -1 ? undefined : KINDS.get(target.slice(0, at));
  return resource === undefined ? undefined : { resource, name: target.slice(at + 1) };
}

export const NAMED_KINDS = 'vip, ovn-eip, iptables-eip';

export function addressesOf(resource: AddressResource, object: unknown, settings: Settings): AddressObject {
  if (resource === 'vips') return vipAddresses(object as Vip);
  return resource === 'ovn-eips' ? ovnEipAddresses(object as OvnEip, settings) : iptablesEipAddresses(object as IptablesEIP);
}

/** Its users: live pods that name the Vip, NAT rules that name the Vip or EIP, and its own port. */
export async function usersOfObject(object: AddressObject, client: KubeClient): Promise<readonly string[]> {
  const { resource, name, type } = object;
  if (type !== '' && type !== 'nat') return [`its own port (type ${type})`];
  const rules = resource === 'vips' ? VIP_RULES : natRulesOf(resource);
  const named = await Promise.all(
    rules.map(async (kind) =>
      (await listed<NatRule>(client, kind))
        .filter((rule) => (resource === 'vips' ? vipOfRule(rule) : eipOfRule(rule)) === name)
        .map(({ metadata }) => `${traitsOf(kind).kind} ${metadata.name}`),
    ),
  );
  return [...(resource === 'vips' ? await podsOfVip(name, client) : []), ...named.flat()];
}

async function podsOfVip(name: string, client: KubeClient): Promise<readonly string[]> {
  const pods = await client.listAll<Pod>(PODS);
  return pods
    .filter((pod) => !isFinished(pod))
    .filter(({ metadata: { annotations = {} } }) =>
      [annotationKey.vip, annotationKey.allowedAddressPairs].some((key) => splitList(annotations[key] ?? '').includes(name)),
    )
    .map(({ metadata }) => `Pod ${metadata.namespace}/${metadata.name}`);
}

/** Empty for a kind that the cluster does not serve. */
async function listed<T>(client: KubeClient, resource: NatRuleResource): Promise<readonly T[]> {
  try {
    return (await client.listAll(traitsOf(resource))) as unknown as readonly T[];
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_SERVED')) return [];
    throw error;
  }
}
