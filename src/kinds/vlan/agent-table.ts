import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { VlanSpec } from '../../api/kinds/vlan.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { resource } from './resource.ts';
import { vlanProvider, vlanTag } from './resource/vlan-fields.ts';

export interface NodeVlan {
  readonly providerNetwork: string;
  /** 0 is untagged. */
  readonly tag: number;
}

interface VlanObject extends KubeObject {
  readonly spec: VlanSpec;
}

export const agentTable = agentTableOf({
  resource,
  view: ({ spec }: VlanObject): NodeVlan => ({ providerNetwork: vlanProvider(spec), tag: vlanTag(spec) }),
});
