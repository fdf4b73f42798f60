import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('k8s.cni.cncf.io', 'v1', 'network-attachment-definitions', 'NetworkAttachmentDefinition', {
  conditions: 'annotation',
  shortNames: ['net-attach-def', 'nad'],
  optional: true,
});
