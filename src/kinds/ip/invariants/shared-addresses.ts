/**
 * I6: two interfaces have one address only if both declare it; otherwise each has a conflict report.
 */
import type { Condition } from '../../../api/kubernetes/meta.ts';
import { kilnAnnotation, POD_CONDITION } from '../../../api/well-known.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { claimantOfObject } from '../../../world/address-objects.ts';
import { eipKindOf, eipOfRule, NAT_RULES } from '../../../world/nat-rules.ts';
import type { World } from '../../../world/world.ts';
import { addressObjects } from '../../../invariants/address-holders.ts';
import type { AddressHolder, HoldersBySubnet } from '../../../invariants/address-holders.ts';
import type { Violation } from '../../../invariants/violation.ts';

export function sharedAddresses(world: World, holders: HoldersBySubnet): readonly Violation[] {
  const violations: Violation[] = [];
  for (const [subnet, byAddress] of holders) {
    // In a missing Subnet, or outside of the networks of a Subnet, no address is held.
    const networks = splitList(world.subnets.peek(subnet)?.spec.cidrBlock ?? '').flatMap((cidr) => parseCidr(cidr) ?? []);
    for (const [address, all] of byAddress) {
      if (new Set(all.map(({ port }) => port)).size < 2 || declareTogether(all)) continue;
      const [first] = all;
      if (
        !networks.some((network) => first !== undefined && network.family === first.address.family && cidrContains(network, first.address))
      )
        continue;
      const silent = all.filter((holder) => !reportsConflict(world, holder));
      for (const { subject } of silent) {
        violations.push({
          invariant: 'I6',
          subject,
          message: `${subject} holds ${address} of Subnet ${subnet} together with ${all
            .filter((one) => one.subject !== subject)
            .map((one) => one.subject)
            .join(', ')} and does not say so`,
        });
      }
    }
  }
  return violations;
}

/** Whether every claimant declares the same group by one of its holders. */
function declareTogether(all: readonly AddressHolder[]): boolean {
  const ports = new Set(all.map(({ port }) => port));
  return all.some(
    ({ share }) => share !== undefined && ports.size === new Set(all.filter((one) => one.share === share).map(({ port }) => port)).size,
  );
}

/** A missing EIP, or a new one without an address, has no report; a rule that still has its address does. */
function natRuleReportsConflict(world: World, claimant: string): boolean {
  return NAT_RULES.some((resource) =>
    [...world.natRules[resource].entries()].some(
      ([, rule]) =>
        claimantOfObject(eipKindOf(resource), eipOfRule(rule)) === claimant &&
        (rule.status?.conditions ?? []).some(({ type, status }) => type === 'AddressConflict' && status === 'True'),
    ),
  );
}

/** A row has no report; its IP object or its pod does. */
function reportsConflict(world: World, { subject, port }: AddressHolder): boolean {
  if (natRuleReportsConflict(world, port)) return true;
  const object = addressObjects(world).find(({ kind, name }) => claimantOfObject(kind, name) === port);
  if (object !== undefined) return object.conditions.some(({ type, status }) => type === 'AddressConflict' && status === 'True');
  const ip = world.ips.peek(port);
  const conditions = JSON.parse(ip?.metadata.annotations?.[kilnAnnotation.conditions] ?? '[]') as readonly Condition[];
  if (conditions.some(({ type, status }) => type === 'AddressConflict' && status === 'True')) return true;
  // A pod without an IP object (removed by force, or not restored) is found by its own name.
  const pod = world.pods.peek(subject.startsWith('Pod ') ? subject.slice('Pod '.length) : `${ip?.spec.namespace}/${ip?.spec.podName}`);
  return (
    pod?.status?.conditions?.some(
      ({ type, status, reason }) => type === POD_CONDITION && status === 'False' && reason === 'AddressConflict',
    ) === true
  );
}
