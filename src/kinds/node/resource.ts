import { otherKind } from '../../api/schema/resource.ts';

/** The kubelet owns the conditions in its status. */
export const resource = otherKind('', 'v1', 'nodes', 'Node', {
  namespaced: false,
  conditions: 'annotation',
  shortNames: ['no'],
  ownsRows: true,
  conflictEvents: true,
});
