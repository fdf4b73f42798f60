import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('', 'v1', 'services', 'Service', {
  shortNames: ['svc'],
  optional: true,
  ownsRows: true,
  conflictEvents: true,
});
