/**
 * What is left in Kubernetes of objects that are gone: whole objects, such as an IP object without its pod, and keys on objects that stay, such
 * as the annotations of a Namespace that name a Subnet. It goes by the plan of the collection, like rows. Pure.
 */
import type { Labels } from '../api/kubernetes/meta.ts';
import type { DesiredObjects } from '../compile/desired-objects.ts';
import type { DeleteOutput, ObjectId, ObjectOutput, PatchOutput } from '../compile/output.ts';
import { resourcesWith } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface Leftover {
  /** The object that goes, or that has the keys. */
  readonly object: ObjectId;
  readonly uid: string;
  /** Owner text of the object that is gone. */
  readonly owner: string;
}

/** The same for the same leftover in every process. */
export function leftoverId(object: ObjectId, owner: string): string {
  return `${object} of ${owner}`;
}

/** Number of all that may be collected: rows of Kiln, and objects that hold the addresses of ports. */
export function ownedSize({ rows, tables }: World): number {
  return PORT_HOLDERS.reduce((sum, resource) => sum + (tables[resource]?.size ?? 0), rows.owned.size);
}

const PORT_HOLDERS = resourcesWith('holdsPorts');

/** The outputs without the leftovers that have to stay. */
export function withoutStaying(outputs: readonly ObjectOutput[], mayGo: (owner: string) => boolean): readonly ObjectOutput[] {
  if (!outputs.some(isAboutLeftover)) return outputs;
  return outputs.flatMap((output): readonly ObjectOutput[] => {
    if (output.kind === 'delete') return output.leftOf === undefined || mayGo(output.leftOf) ? [output] : [];
    return output.kind === 'patch' ? [withoutKeys(output, mayGo)] : [output];
  });
}

/** All that the API server has. */
export function* leftoversIn({ tables }: World, desired: Pick<DesiredObjects, 'ids' | 'of'>): Generator<Leftover> {
  for (const object of desired.ids) {
    const owners = new Set<string>();
    for (const output of desired.of(object)) {
      if (!isAboutLeftover(output)) continue;
      const { resource, key, uid } = output;
      const metadata = tables[resource]?.peek(key)?.metadata;
      // The output may be about an object of before.
      if (metadata === undefined || metadata.uid !== uid) continue;
      for (const owner of output.kind === 'patch' ? ownersOfKeys(output, metadata) : [output.leftOf]) {
        if (owners.has(owner)) continue;
        owners.add(owner);
        yield { object, uid, owner };
      }
    }
  }
}

/** Of the keys that are there. */
function ownersOfKeys(
  { leftOf }: PatchWithLeftovers,
  { annotations, labels }: { annotations?: Labels; labels?: Labels },
): readonly string[] {
  return Object.entries(leftOf).flatMap(([key, owner]) => (annotations?.[key] === undefined && labels?.[key] === undefined ? [] : [owner]));
}

type PatchWithLeftovers = PatchOutput & Required<Pick<PatchOutput, 'leftOf'>>;

function isAboutLeftover(output: ObjectOutput): output is PatchWithLeftovers | (DeleteOutput & Required<Pick<DeleteOutput, 'leftOf'>>) {
  return (output.kind === 'delete' || output.kind === 'patch') && output.leftOf !== undefined;
}

function withoutKeys(patch: PatchOutput, mayGo: (owner: string) => boolean): PatchOutput {
  const { annotations, labels, leftOf } = patch;
  if (leftOf === undefined) return patch;
  const staying = new Set(Object.entries(leftOf).flatMap(([key, owner]) => (mayGo(owner) ? [] : [key])));
  if (staying.size === 0) return patch;
  const rest = (keys: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> =>
    Object.fromEntries(Object.entries(keys).filter(([key, value]) => value !== null || !staying.has(key)));
  return {
    ...patch,
    ...(annotations !== undefined && { annotations: rest(annotations) }),
    ...(labels !== undefined && { labels: rest(labels) }),
  };
}
