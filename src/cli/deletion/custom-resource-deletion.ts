/**
 * Deletes every object of the given kinds after the last controller has stopped: removes Kiln's finalizers, and keeps those of other
 * programs. The kinds come from the list of all CRDs, so it is complete.
 */
import { allKinds } from '../../api/kinds/crds.ts';
import { GROUP, VERSION } from '../../api/schema/kind.ts';
import { FINALIZER, LEGACY_FINALIZERS } from '../../api/well-known.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';

export const CUSTOM_RESOURCES: readonly Resource[] = allKinds.map(({ kind, plural, scope }) => ({
  group: GROUP,
  version: VERSION,
  kind,
  plural,
  namespaced: scope === 'Namespaced',
}));

export interface ListedKind {
  readonly resource: Resource;
  readonly objects: readonly KubeObject[];
}

/** Skips kinds that are not served or have no objects. */
export async function listedKinds(client: KubeClient, resources: readonly Resource[] = CUSTOM_RESOURCES): Promise<readonly ListedKind[]> {
  const listed = await Promise.all(
    resources.map(async (resource): Promise<ListedKind> => {
      try {
        return { resource, objects: await client.listAll(resource) };
      } catch (error) {
        if (isKubeError(error, 'KUBE_NOT_SERVED') || isKubeError(error, 'KUBE_NOT_FOUND')) return { resource, objects: [] };
        throw error;
      }
    }),
  );
  return listed.filter(({ objects }) => objects.length > 0);
}

const AT_ONCE = 32;
const LOOK_MS = 200;
/** The definitions are deleted next, with all their objects, so one empty list is no proof. */
const SECOND_LOOK_MS = 1_000;

/** @returns the objects that remain after the time limit, or that only foreign finalizers keep */
export async function drain(client: KubeClient, timeoutMs: number): Promise<readonly ListedKind[]> {
  const until = performance.now() + timeoutMs;
  let nothingSeen = false;
  for (;;) {
    const listed = await listedKinds(client);
    if (listed.length === 0) {
      if (nothingSeen) return [];
      nothingSeen = true;
      await new Promise((done) => setTimeout(done, SECOND_LOOK_MS));
      continue;
    }
    nothingSeen = false;
    const due = listed.flatMap(({ resource, objects }) => objects.filter(isDue).map((object) => ({ resource, object })));
    if (
      performance.now() > until ||
      (due.length === 0 && listed.every(({ objects }) => objects.every((object) => foreignFinalizers(object).length > 0)))
    )
      return listed;
    for (let at = 0; at < due.length; at += AT_ONCE)
      await Promise.all(due.slice(at, at + AT_ONCE).map(({ resource, object }) => release(client, resource, object)));
    await new Promise((done) => setTimeout(done, due.length > 0 ? 0 : LOOK_MS));
  }
}

export function foreignFinalizers({ metadata }: KubeObject): readonly string[] {
  return (metadata.finalizers ?? []).filter((one) => !isOurs(one));
}

function isOurs(finalizer: string): boolean {
  return finalizer === FINALIZER || LEGACY_FINALIZERS.includes(finalizer);
}

/** Whether the object needs a write. */
function isDue({ metadata }: KubeObject): boolean {
  return (metadata.deletionTimestamp ?? '') === '' || (metadata.finalizers ?? []).some(isOurs);
}

/** A conflict or a missing object is no failure: the next round reads it again. */
const MEANWHILE: readonly KubeErrorCode[] = ['KUBE_NOT_FOUND', 'KUBE_NOT_SERVED', 'KUBE_CONFLICT', 'KUBE_PRECONDITION'];

async function release(client: KubeClient, resource: Resource, object: KubeObject): Promise<void> {
  const { name, namespace, uid, resourceVersion, finalizers, deletionTimestamp } = object.metadata;
  try {
    let version = resourceVersion;
    if ((finalizers ?? []).some(isOurs)) {
      const patch = { metadata: { resourceVersion, finalizers: foreignFinalizers(object) } };
      version = (await client.mergePatch(resource, { name, namespace }, patch)).metadata.resourceVersion;
    }
    if ((deletionTimestamp ?? '') === '') await client.delete(resource, { name, namespace }, { uid, resourceVersion: version });
  } catch (error) {
    if (!MEANWHILE.some((code) => isKubeError(error, code))) throw error;
  }
}
