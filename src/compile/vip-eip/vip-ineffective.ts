/** Findings about ineffective fields of a Vip's spec. */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { labelFinding } from '../../api/validation/impossible-labels.ts';
import type { VipSpec } from '../../api/kinds/vip.ts';
import { hasRouterMac } from '../../world/address-objects.ts';
import type { World } from '../../world/world.ts';
import { namespaceFindingsOf } from '../namespace/listed-namespaces.ts';
import type { VipView } from './vip-view.ts';

export function vipIneffective(world: World, { name, type, namespace }: VipView, spec: VipSpec): readonly Finding[] {
  const subject = { kind: 'Vip', name };
  const { selector = [], macAddress = '' } = spec;
  const ineffective = (field: string, value: string, needs: string): Finding =>
    findingOf(subject, {
      code: 'NeedsAnotherField',
      field,
      value,
      problem: 'has no effect alone',
      rule: `it takes effect together with ${needs}`,
    });
  const chooses = type === '' && namespace !== '';
  return [
    ...(namespace === '' ? [] : namespaceFindingsOf(world, subject, 'spec.namespace', namespace)),
    ...(chooses ? selector.flatMap((item, i) => labelFinding(subject, `spec.selector[${i}]`, item)) : []),
    ...(selector.length > 0 && !chooses
      ? [
          ineffective(
            'spec.selector',
            selector.join(','),
            type === ''
              ? 'spec.namespace, whose pods it chooses among'
              : 'an empty spec.type: only a Vip that moves between ports chooses pods',
          ),
        ]
      : []),
    ...(macAddress !== '' && hasRouterMac(type)
      ? [ineffective('spec.macAddress', macAddress, `another spec.type: of type ${type} the router answers for it with its own MAC`)]
      : []),
  ];
}
