import type { Node } from '../../api/kubernetes/core.ts';
import { groupName } from '../../api/names.ts';
import { annotationKey, kilnAnnotation, labelKey } from '../../api/well-known.ts';
import { canonicalAddress } from '../../net/address.ts';
import { allocatedSubnets } from '../../world/allocated-subnets.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { trimMeta } from '../../world/trim.ts';

export const table = kindTable<Node>({
  trim,
  indexes: () => ({
    internalIp: ({ status }) =>
      (status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? (canonicalAddress(address) ?? []) : [])),
    /** By the name of their chassis. */
    chassis: ({ metadata }) => {
      const chassis = metadata.annotations?.[annotationKey.chassis] ?? '';
      return chassis === '' ? [] : [chassis];
    },
    /** `true` for gateway nodes of external networks. */
    externalGateway: ({ metadata }) => (metadata.labels?.[labelKey.externalGateway] === 'true' ? ['true'] : []),
    /** `true` for those that Kiln labelled. */
    madeGateway: ({ metadata }) => (metadata.annotations?.[kilnAnnotation.gatewayOf] === undefined ? [] : ['true']),
    group: ({ metadata }) => [groupName(metadata.name)],
    /** As for pods. */
    allocated: ({ metadata }) => allocatedSubnets(metadata.annotations ?? {}),
  }),
});

function trim(object: Untrimmed): Node {
  const node = object as Node;
  const ready =
    node.status?.conditions?.filter((condition) => condition.type === 'Ready').map(({ type, status }) => ({ type, status })) ?? [];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: trimMeta(object.metadata),
    spec: {},
    status: { addresses: node.status?.addresses ?? [], conditions: ready },
  };
}
