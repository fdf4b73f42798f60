import { vlanKind } from '../../api/kinds/vlan.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vlanKind, {
  optional: true,
  unimplemented: 'underlay networks (Vlan)',
});
