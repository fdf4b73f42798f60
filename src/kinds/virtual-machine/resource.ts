import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('kubevirt.io', 'v1', 'virtualmachines', 'VirtualMachine', {
  shortNames: ['vm'],
  workload: { creates: 'VirtualMachineInstance' },
  namedOnPorts: true,
  optional: true,
});
