import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('', 'v1', 'namespaces', 'Namespace', {
  namespaced: false,
  shortNames: ['ns'],
  inEveryCluster: true,
  ownsRows: true,
});
