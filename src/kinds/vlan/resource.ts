import { vlanKind } from '../../api/kinds/vlan.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

/** A cluster of an older release lacks the kind. */
export const resource = kubeOvnKind(vlanKind, { optional: true });
