import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('kubevirt.io', 'v1', 'virtualmachineinstances', 'VirtualMachineInstance', {
  shortNames: ['vmi'],
  workload: {},
  namedOnPorts: true,
  optional: true,
});
