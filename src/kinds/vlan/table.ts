import { vlanKind } from '../../api/kinds/vlan.ts';
import { customTable } from '../../world/kind-table.ts';
import { vlanProvider, vlanTag } from './resource/vlan-fields.ts';

export const table = customTable(vlanKind, {
  indexes: () => ({
    provider: ({ spec }) => [vlanProvider(spec)],
    /** `<provider> <tag>`, without the untagged ones: those share a network. */
    tag: ({ spec }) => (vlanTag(spec) === 0 ? [] : [`${vlanProvider(spec)} ${vlanTag(spec)}`]),
  }),
  names: ({ spec }) => [['provider-networks', vlanProvider(spec)]],
});
