import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('kubevirt.io', 'v1', 'virtualmachineinstancemigrations', 'VirtualMachineInstanceMigration', {
  shortNames: ['vmim'],
  optional: true,
});
