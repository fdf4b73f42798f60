/** Fields of Vips that Kube-OVN no longer uses either: the user who sets them expects more of the object than one address. */
import type { VipSpec } from '../../api/kinds/vip.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { unimplementedFieldOutputs } from '../unimplemented-fields.ts';

export const vipFields: Rule = {
  name: 'vip-unsupported',
  over: (world) => keysOf(world.vips),
  run: (world, name) => {
    const vip = world.vips.get(name);
    if (vip === undefined) return [];
    return unimplementedFieldOutputs('vips', name, vip.metadata.uid, unimplementedVipFields(vip.spec));
  },
};

function unimplementedVipFields({ attachSubnets }: VipSpec): string[] {
  return (attachSubnets ?? []).length > 0 ? ['spec.attachSubnets'] : [];
}
