/**
 * The policy for objects that come late: one that was made for an object which is already being deleted does not keep that from going. Else
 * a deletion would never end while new ones come.
 */
import { FINALIZER, labelKey } from '../api/well-known.ts';
import { isRequest, isReserved } from '../world/claimants.ts';
import { subnetIntent, vpcIntent } from '../world/intent.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, eipSeenBy, heldByRule } from '../world/nat-rules.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { ipUser, subnetTooLate } from './rule-queries.ts';
import { isSettled } from './subnet-switch.ts';

/**
 * A Subnet that is being deleted is not held by an IP object of a user that came after, was not completed and that nobody uses, though it says an
 * address. One that has the label of this Subnet is from a backup, or somebody took its finalizer away. Both times are the API server's, in whole
 * seconds.
 */
export const isTooLateForSubnet: Query<boolean> = defineQuery('ip-too-late-for-subnet', (world, name) => {
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
 * A Vpc that is being deleted is not held by a Subnet that came after and has nothing there, nor by one that is refused because of that
 * deletion. By one that was there before and is refused for something else it is. Both times are the API server's, in whole seconds.
 */
export function isTooLateForVpc(world: World, vpc: string, subnet: string): boolean {
  const deleted = world.ask(deletionOfVpc, vpc);
  if (deleted === '' || world.ask(isSettled, subnet)) return false;
  if ((world.ask(subnetIntent, subnet)?.metadata.creationTimestamp ?? '') > deleted) return true;
  // The default one takes Subnets as long as there are any.
  return vpc !== world.settings.defaultVpc && world.ask(subnetTooLate, subnet);
}

export const deletionOfVpc: Query<string> = defineQuery(
  'deletion-of-vpc',
  (world, name) => world.ask(vpcIntent, name)?.metadata.deletionTimestamp ?? '',
);

/**
 * An EIP that is being deleted is not held by a rule that came after, made or edited to name it. One that is marked with its address was there
 * before, also where it is from a backup. Of the others the mark tells which EIP a rule named when Kiln last saw it; where there is none, both
 * times are the API server's, in whole seconds. Key `<resource>/<name>` of the rule.
 */
export const isTooLateForEip: Query<boolean> = defineQuery('rule-too-late-for-eip', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  if (rule === undefined) return false;
  const eip = eipOfRule(rule);
  const deleted = world.ask(deletionOfEip, `${eipResourceOf(resource)}/${eip}`);
  if (deleted === '' || heldByRule(rule)?.eip === eip) return false;
  return rule.metadata.creationTimestamp > deleted || (eipSeenBy(rule) ?? eip) !== eip;
});

const deletionOfEip: Query<string> = defineQuery('deletion-of-eip', (world, key) => {
  const at = key.indexOf('/');
  const eips = key.startsWith('ovn-eips/') ? world.ovnEips : world.iptablesEips;
  return eips.get(key.slice(at + 1))?.metadata.deletionTimestamp ?? '';
});
