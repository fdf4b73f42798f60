/**
 * The policy for late dependents: one that was created after the deletion of an object began does not block it. Else a deletion would never
 * end while new dependents are created.
 */
import { FINALIZER, labelKey } from '../api/well-known.ts';
import { isRequest, isReserved } from '../world/claimants.ts';
import { subnetIntent, vpcIntent } from '../world/intent.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, annotatedEip, heldByRule } from '../world/nat-rules.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { ipUser, isSubnetLateForVpc } from './rule-queries.ts';
import { isEstablished } from './subnet-switch.ts';

/**
 * A user's IP object does not block the deletion of a Subnet if it was created afterwards, was not completed, and has no user, even if it
 * has an address. With the label of this Subnet it is from a backup, or its finalizer was removed by hand: then it blocks. Both times are
 * the API server's, in whole seconds.
 */
export const isLateForSubnet: Query<boolean> = defineQuery('ip-late-for-subnet', (world, name) => {
  const ip = world.ips.get(name);
  if (ip === undefined || !(isReserved(ip) || isRequest(ip))) return false;
  const { labels = {}, finalizers = [], creationTimestamp } = ip.metadata;
  const { subnet = '' } = ip.spec;
  const deleted = world.ask(deletionOfSubnet, subnet);
  if (deleted === '' || creationTimestamp <= deleted || labels[labelKey.subnet] === subnet || finalizers.includes(FINALIZER)) return false;
  return world.ask(ipUser, name) === undefined;
});

const deletionOfSubnet: Query<string> = defineQuery(
  'deletion-of-subnet',
  (world, name) => world.ask(subnetIntent, name)?.metadata.deletionTimestamp ?? '',
);

/**
 * A Subnet does not block the deletion of a Vpc if it was created afterwards and has no network, or is not accepted because of that
 * deletion. An older one that is not accepted for another reason blocks. Both times are the API server's, in whole seconds.
 */
export function isLateForVpc(world: World, vpc: string, subnet: string): boolean {
  const deleted = world.ask(deletionOfVpc, vpc);
  if (deleted === '' || world.ask(isEstablished, subnet)) return false;
  if ((world.ask(subnetIntent, subnet)?.metadata.creationTimestamp ?? '') > deleted) return true;
  // The default Vpc accepts Subnets as long as it has any.
  return vpc !== world.settings.defaultVpc && world.ask(isSubnetLateForVpc, subnet);
}

export const deletionOfVpc: Query<string> = defineQuery(
  'deletion-of-vpc',
  (world, name) => world.ask(vpcIntent, name)?.metadata.deletionTimestamp ?? '',
);

/**
 * A NAT rule does not block the deletion of an EIP if it was created afterwards, or edited afterwards to name the EIP. One with the EIP's
 * address in its labels is older, even if it was restored from a backup: it blocks. For others the annotation has the EIP that the NAT rule
 * named when Kiln last observed it; without one, both times are the API server's, in whole seconds. Key: `<resource>/<name>` of the NAT
 * rule.
 */
export const isLateForEip: Query<boolean> = defineQuery('rule-late-for-eip', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  if (rule === undefined) return false;
  const eip = eipOfRule(rule);
  const deleted = world.ask(deletionOfEip, `${eipResourceOf(resource)}/${eip}`);
  if (deleted === '' || heldByRule(rule)?.eip === eip) return false;
  return rule.metadata.creationTimestamp > deleted || (annotatedEip(rule) ?? eip) !== eip;
});

const deletionOfEip: Query<string> = defineQuery('deletion-of-eip', (world, key) => {
  const at = key.indexOf('/');
  const eips = key.startsWith('ovn-eips/') ? world.ovnEips : world.iptablesEips;
  return eips.get(key.slice(at + 1))?.metadata.deletionTimestamp ?? '';
});
