/** What of an object a write is about. */
import { FINALIZER, kilnAnnotation } from '../api/well-known.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { RejectedWrite, WritePart } from '../world/rejected-writes.ts';

/** Evictions are asked of the server, which may say no: that is an answer, and nothing was refused. */
export function partOf(write: Exclude<ObjectWrite, { readonly verb: 'evict' }>): WritePart {
  if (write.verb !== 'patch') return write.verb;
  if (removesFinalizer(write)) return 'release';
  return write.subresource === 'status' || Object.keys(write.patch).every((field) => field === 'status') ? 'status' : 'object';
}

/** It says which finalizers an object is to have, and Kiln's is not among them. */
export function removesFinalizer(write: ObjectWrite): boolean {
  if (write.verb !== 'patch') return false;
  const { finalizers } = (write.patch['metadata'] ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers?.includes(FINALIZER) === false;
}

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string }[];
}

/** Uid of the object; of one that is to be made, of the pod or the node that it is made for, where it is for one. */
export function uidOf(write: ObjectWrite): RejectedWrite['uid'] {
  return write.verb === 'create' ? madeFor(write.object) : write.uid;
}

/** Uid of the pod or node that an object is made for. */
export function madeFor({ metadata }: { readonly metadata?: unknown }): string {
  const { annotations = {}, ownerReferences = [] } = metadata as Metadata;
  return annotations[kilnAnnotation.podUid] ?? ownerReferences[0]?.uid ?? '';
}
