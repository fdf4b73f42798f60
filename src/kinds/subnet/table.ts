import { subnetKind } from '../../api/kinds/subnet.ts';
import { relevantManagedFields } from '../../api/kubernetes/applied-fields.ts';
import { customTable } from '../../world/kind-table.ts';
import { trimMeta } from '../../world/trim.ts';

export const table = customTable(subnetKind, {
  indexes: () => ({
    namespace: (subnet) => subnet.spec.namespaces ?? [],
    /** Value `yes`: Subnets that choose namespaces by label. */
    selects: (subnet) => ((subnet.spec.namespaceSelectors ?? []).length > 0 ? ['yes'] : []),
    provider: (subnet) => [subnet.spec.provider === undefined || subnet.spec.provider === '' ? 'ovn' : subnet.spec.provider],
    vlan: ({ spec: { vlan = '' } }) => (vlan === '' ? [] : [vlan]),
  }),
  names: ({ spec }) => [
    ['vpcs', spec.vpc],
    ['vlans', spec.vlan],
  ],
  /** Of the managed fields, the applied fields of the spec: Kiln does not default those. */
  trim: (object) => {
    const managedFields = relevantManagedFields(object.metadata.managedFields);
    return { ...object, metadata: { ...trimMeta(object.metadata), ...(managedFields !== undefined && { managedFields }) } };
  },
});
