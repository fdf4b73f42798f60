import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('', 'v1', 'pods', 'Pod', {
  conditions: 'status',
  shortNames: ['po'],
  numerous: 'watched',
  namedOnPorts: true,
  ownsRows: true,
  reportsRejections: true,
  sharedConditions: true,
  urgentMetadata: true,
});
