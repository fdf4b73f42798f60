/** Fields of IP objects that Kube-OVN no longer uses either: the user who sets them expects more of the object than one address. */
import type { IPSpec } from '../../api/kinds/ip.ts';
import { conditionOf } from '../../world/conditions.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { UNIMPLEMENTED, unimplementedFieldOutputs } from '../unimplemented-fields.ts';

export const ipFields: Rule = {
  name: 'ip-unsupported',
  // Very many IP objects have none of the fields. The domain has only those that do, and those with the condition.
  over: (world) =>
    keysOf(world.ips, (ip) => unimplementedIpFields(ip.spec).length > 0 || conditionOf('ips', ip, UNIMPLEMENTED) !== undefined),
  run: (world, name) => {
    const ip = world.ips.get(name);
    if (ip === undefined) return [];
    return unimplementedFieldOutputs('ips', name, ip.metadata.uid, unimplementedIpFields(ip.spec));
  },
};

function unimplementedIpFields({ attachSubnets, attachIps, attachMacs, containerID = '' }: IPSpec): string[] {
  const lists = Object.entries({ attachSubnets, attachIps, attachMacs }).flatMap(([field, list]) =>
    (list ?? []).length > 0 ? [`spec.${field}`] : [],
  );
  return containerID === '' ? lists : [...lists, 'spec.containerID'];
}
