import type { WrittenObject } from '../../agent/world/agent-table.ts';
import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { OvnEipSpec, OvnEipStatus } from '../../api/kinds/ovn-eip.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { canonicalAddress } from '../../net/address.ts';
import { resource } from './resource.ts';

/** An OvnEip as its node sees it. */
export interface NodeEip extends WrittenObject {
  /** It is for the port of a gateway node. */
  readonly ofNode: boolean;
  readonly terminating: boolean;
  readonly subnet: string;
  /** Empty until the controller has allocated them. */
  readonly addresses: readonly string[];
  readonly mac: string;
}

interface OvnEipObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: OvnEipSpec;
  readonly status?: OvnEipStatus;
}

/** The one with the name of the node, which makes it an external gateway if it has type `lsp`. */
export const agentTable = agentTableOf({
  resource,
  selects: (node) => `metadata.name=${node}`,
  optional: true,
  view: ({ metadata: { uid, annotations, labels, deletionTimestamp }, spec, status }: OvnEipObject): NodeEip => ({
    uid: uid ?? '',
    annotations: annotations ?? {},
    labels: labels ?? {},
    conditions: {},
    fields: { ...(status?.ready !== undefined && { ready: status.ready }) },
    ofNode: (status?.type ?? spec.type) === 'lsp',
    terminating: deletionTimestamp !== undefined,
    subnet: spec.externalSubnet ?? '',
    addresses: [status?.v4Ip ?? '', status?.v6Ip ?? ''].flatMap((text) => canonicalAddress(text) ?? []),
    mac: (status?.macAddress ?? '').toLowerCase(),
  }),
});
