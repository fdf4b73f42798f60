import { evpnConfKind } from '../../api/kinds/evpn-conf.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(evpnConfKind, {
  optional: true,
  unimplemented: 'EVPN (EvpnConf)',
});
