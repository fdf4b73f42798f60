/**
 * I6: two interfaces hold one address only where both say so; else each carries a conflict.
 */
import type { Condition } from '../api/meta.ts';
import { kilnAnnotation, POD_CONDITION } from '../api/well-known.ts';
import type { World } from '../world/world.ts';
import type { AddressHolder, HoldersBySubnet } from './address-holders.ts';
import type { Violation } from './violation.ts';

export function sharedAddresses(world: World, holders: HoldersBySubnet): readonly Violation[] {
  const violations: Violation[] = [];
  for (const [subnet, byAddress] of holders) {
    for (const [address, all] of byAddress) {
      if (new Set(all.map(({ port }) => port)).size < 2) continue;
      const silent = all.filter((holder) => !saysConflict(world, holder));
      for (const { who } of silent) {
        violations.push({
          invariant: 'I6',
          subject: who,
          message: `${who} holds ${address} of Subnet ${subnet} together with ${all
            .filter((one) => one.who !== who)
            .map((one) => one.who)
            .join(', ')} and does not say so`,
        });
      }
    }
  }
  return violations;
}

/** A row cannot say anything; its IP object or its pod does. */
function saysConflict(world: World, { port }: AddressHolder): boolean {
  const ip = world.ips.peek(port);
  const conditions = JSON.parse(ip?.metadata.annotations?.[kilnAnnotation.conditions] ?? '[]') as readonly Condition[];
  if (conditions.some(({ type, status }) => type === 'AddressConflict' && status === 'True')) return true;
  const pod = ip === undefined ? undefined : world.pods.peek(`${ip.spec.namespace}/${ip.spec.podName}`);
  return (
    pod?.status?.conditions?.some(
      ({ type, status, reason }) => type === POD_CONDITION && status === 'False' && reason === 'AddressConflict',
    ) === true
  );
}
