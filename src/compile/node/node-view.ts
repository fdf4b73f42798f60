/**
 * What of a node matters to the network: kubelets write its status every few seconds, rules read this projection.
 */
import type { IP } from '../../api/kinds/ip.ts';
import { nodePortName } from '../../api/names.ts';
import { DEFAULT_PROVIDER, podAnnotation } from '../../api/well-known.ts';
import { parseAddress } from '../../net/address.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Claimant } from '../output.ts';

export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  /** Addresses of type InternalIP, in the order the node states them. */
  readonly internalIps: readonly string[];
  /** What it states as one and is no address, with its place in `status.addresses`. */
  readonly unreadableIps: readonly { readonly index: number; readonly address: string }[];
  /** What an earlier binding wrote: its addresses in the join Subnet. */
  readonly joined: { readonly subnet: string; readonly addresses: string; readonly mac: string } | undefined;
}

/** Undefined where there is no such node. */
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

/** For sorting: the oldest first. */
export function olderFirst(a: NodeView, b: NodeView): number {
  return `${a.created} ${a.uid}` < `${b.created} ${b.uid}` ? -1 : 1;
}

export const nodeExists: Query<boolean> = defineQuery('node-exists', (world, name) => world.nodes.has(name));

/** The node as the owner of its rows. */
export function nodeOwner({ name, uid, created }: NodeView): Claimant {
  return { kind: 'node', namespace: '', name, uid, created };
}

/** Its addresses are the node's whatever incarnation of it is there: one of that name at a time. */
export function nodeClaimant(node: string): string {
  return nodePortName(node);
}

/** Whether an IP object was made for this node, and not for an earlier one of its name. */
export function isIpOfNode(ip: IP, node: Pick<NodeView, 'name' | 'uid'>): boolean {
  const owner = ip.metadata.ownerReferences?.find(({ kind }) => kind === 'Node');
  return owner === undefined ? ip.spec.podName === node.name : owner.uid === node.uid;
}
