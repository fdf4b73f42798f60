/** The part of an object that a write changes. */
import { FINALIZER, kilnAnnotation } from '../api/well-known.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { RejectedWrite, WritePart } from '../world/rejected-writes.ts';

/** Evictions have no part: a disruption budget that forbids one is an answer, not a rejection. */
export function partOf(write: Exclude<ObjectWrite, { readonly verb: 'evict' }>): WritePart {
  if (write.verb !== 'patch') return write.verb;
  if (removesFinalizer(write)) return 'release';
  return write.subresource === 'status' || Object.keys(write.patch).every((field) => field === 'status') ? 'status' : 'object';
}

/** Whether the write sets the finalizers of an object, without Kiln's. */
export function removesFinalizer(write: ObjectWrite): boolean {
  if (write.verb !== 'patch') return false;
  const { finalizers } = (write.patch['metadata'] ?? {}) as { readonly finalizers?: readonly string[] };
  return finalizers?.includes(FINALIZER) === false;
}

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string }[];
}

/** Uid of the object; for a create, of the pod or node that the object is for, if any. */
export function uidOf(write: ObjectWrite): RejectedWrite['uid'] {
  return write.verb === 'create' ? madeFor(write.object) : write.uid;
}

/** Uid of the pod or node that an object is for. */
export function madeFor({ metadata }: { readonly metadata?: unknown }): string {
  const { annotations = {}, ownerReferences = [] } = metadata as Metadata;
  return annotations[kilnAnnotation.podUid] ?? ownerReferences[0]?.uid ?? '';
}
