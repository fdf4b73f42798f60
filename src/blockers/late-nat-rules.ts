/**
 * NAT rules that were created after the deletion of their EIP began. They do not block it: else the deletion would never end while new rules
 * are created.
 */
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, annotatedEip, heldByRule } from '../world/nat-rules.ts';
import type { ResourceName } from '../world/resources.ts';
import type { Query } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';

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
  const eips = world.tables[key.slice(0, at) as ResourceName];
  return eips?.get(key.slice(at + 1))?.metadata.deletionTimestamp ?? '';
});
