import { bgpConfKind } from '../../api/kinds/bgp-conf.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(bgpConfKind, {
  optional: true,
  unimplemented: 'announcing routes by BGP (BgpConf)',
});
