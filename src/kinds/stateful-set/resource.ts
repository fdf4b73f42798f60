import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('apps', 'v1', 'statefulsets', 'StatefulSet', {
  shortNames: ['sts'],
  workload: { scales: true },
});
