/** The projection of a node that rules read: a kubelet writes its status every few seconds. */
import type { IP } from '../../api/kinds/ip.ts';
import { nodePortName } from '../../api/names.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../../api/well-known.ts';
import { parseAddress } from '../../net/address.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { RowOwner } from '../output.ts';

export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  /** Addresses of type InternalIP, in the order of `status.addresses`. */
  readonly internalIps: readonly string[];
  /** InternalIPs that are no address, with their index in `status.addresses`. */
  readonly unreadableIps: readonly { readonly index: number; readonly address: string }[];
  /** Its addresses in the join Subnet, from its annotations. */
  readonly joined: { readonly subnet: string; readonly addresses: string; readonly mac: string } | undefined;
}

/** Undefined if no node has that name. */
export const nodeView: Query<NodeView | undefined> = defineQuery('node-view', (world, name) => {
  const node = world.nodes.get(name);
  if (node === undefined) return undefined;
  const { metadata, status } = node;
  const annotation = (suffix: Parameters<typeof podAnnotation>[1]): string =>
    metadata.annotations?.[podAnnotation(DEFAULT_PROVIDER, suffix)] ?? '';
  const internal = (status?.addresses ?? []).flatMap(({ type, address }, index) =>
    type === 'InternalIP' ? [{ index, address, readable: parseAddress(address) !== undefined }] : [],
  );
  const [subnet, addresses, mac] = [annotation('logical_switch'), annotation('ip_address'), annotation('mac_address')];
  return {
    name,
    uid: metadata.uid,
    created: metadata.creationTimestamp,
    internalIps: internal.filter(({ readable }) => readable).map(({ address }) => address),
    unreadableIps: internal.filter(({ readable }) => !readable).map(({ index, address }) => ({ index, address })),
    joined: annotation('allocated') === 'true' && addresses !== '' && mac !== '' ? { subnet, addresses, mac } : undefined,
  };
});

/** Sorts the oldest first. */
export function olderFirst(a: NodeView, b: NodeView): number {
  return `${a.created} ${a.uid}` < `${b.created} ${b.uid}` ? -1 : 1;
}

export const nodeExists: Query<boolean> = defineQuery('node-exists', (world, name) => world.nodes.has(name));

/** The node as row owner. */
export function nodeOwner({ name, uid, created }: NodeView): RowOwner {
  return { kind: 'node', namespace: '', name, uid, created };
}

/** Without a uid: a node that is created again under its name keeps its addresses. */
export function nodeClaimant(node: string): string {
  return nodePortName(node);
}

/** Whether an IP object belongs to this node, and not to an earlier one of its name. */
export function isIpOfNode(ip: IP, node: Pick<NodeView, 'name' | 'uid'>): boolean {
  const owner = ip.metadata.ownerReferences?.find(({ kind }) => kind === 'Node');
  return owner === undefined ? ip.spec.podName === node.name : owner.uid === node.uid;
}
