import { otherKind } from '../../api/schema/resource.ts';

/** The condition stays on the object: an Event is gone after an hour, and the user who relies on a policy may look later. */
export const resource = otherKind('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy', {
  conditions: 'annotation',
  shortNames: ['netpol'],
  optional: true,
  ownsRows: true,
  unimplemented: 'NetworkPolicy: traffic that it should deny is still allowed',
});
