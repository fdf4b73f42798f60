import type { JsonPatchOperation, KubeClient } from '../client/client.ts';
import { subjectOf } from '../client/client.ts';
import { isKubeError, KubeError, type KubeErrorCode } from '../errors.ts';
import { apiVersionOf, type KubeObject, type ObjectName, type Resource } from '../resource.ts';

export type WriteOperation =
  | { readonly kind: 'create'; readonly object: KubeObject }
  | { readonly kind: 'update'; readonly object: KubeObject; readonly subresource?: string }
  | { readonly kind: 'merge-patch'; readonly patch: Readonly<Record<string, unknown>>; readonly subresource?: string }
  /** For built-in kinds, whose lists merge by key. */
  | { readonly kind: 'strategic-patch'; readonly patch: Readonly<Record<string, unknown>>; readonly subresource?: string }
  | { readonly kind: 'json-patch'; readonly patch: readonly JsonPatchOperation[]; readonly subresource?: string }
  | {
      readonly kind: 'delete';
      readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
      readonly gracePeriodSeconds?: number;
    }
  /** For a pod. */
  | { readonly kind: 'evict'; readonly gracePeriodSeconds?: number };

/** A requested write. Until it is sent, a newer one of the same resource, object and lane replaces it. */
export interface WriteIntent {
  readonly resource: Resource;
  /** Undefined for cluster scope. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Writes that must not replace one another have different lanes: `object`, `status`, `evict`. */
  readonly lane: string;
  /** Write only to the object with this uid. Not for `create`. */
  readonly uid?: string | undefined;
  /** Write only to this version of the object. */
  readonly resourceVersion?: string | undefined;
  /** A pod or another write waits for it: it is sent before others. */
  readonly urgent?: boolean | undefined;
  /** The namespace that the write counts for; shares take turns. Default: the object's; cluster-scoped objects are a share of their own. */
  readonly share?: string | undefined;
  readonly operation: WriteOperation;
}

/** `object` is the server's reply; undefined for evictions and final deletions. */
export type WriteResult =
  { readonly ok: true; readonly object: KubeObject | undefined } | { readonly ok: false; readonly error: KubeError };

const VERBS: Record<WriteOperation['kind'], string> = {
  create: 'create',
  update: 'update',
  'merge-patch': 'patch',
  'strategic-patch': 'patch',
  'json-patch': 'patch',
  delete: 'delete',
  evict: 'evict',
};

export function intentError(intent: WriteIntent, code: KubeErrorCode, detail: string): KubeError {
  return new KubeError(code, subjectOf(VERBS[intent.operation.kind], intent.resource, intent), detail);
}

/**
 * Sends an intent once.
 * @param doubtful an earlier attempt may have taken effect: its expected result counts as success
 * @throws KubeError
 */
export async function sendIntent(
  client: KubeClient,
  intent: WriteIntent,
  doubtful: boolean,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    const object = await request(client, intent, signal);
    // Not every server and subresource checks the uid in a merge patch: the uid of the answer is checked here.
    if (intent.uid !== undefined && object?.metadata.uid !== undefined && object.metadata.uid !== intent.uid) {
      throw intentError(intent, 'KUBE_PRECONDITION', `the object has uid ${object.metadata.uid}, not ${intent.uid}`);
    }
    return object;
  } catch (error) {
    const { operation, uid } = intent;
    // Some servers report a failed test of a JSON patch only as "invalid": read the object to find out whether the uid differed.
    if (operation.kind === 'json-patch' && uid !== undefined && isKubeError(error, 'KUBE_INVALID') && error.causes.length === 0) {
      const live = await client.find(intent.resource, intent, signal);
      if (live?.metadata.uid !== uid) throw intentError(intent, 'KUBE_PRECONDITION', `the object with uid ${uid} is gone`);
    }
    if (!doubtful) throw error;
    if (operation.kind === 'create' && isKubeError(error, 'KUBE_ALREADY_EXISTS')) {
      const live = await client.find(intent.resource, intent, signal);
      if (live !== undefined && contains(live, { ...operation.object, ...typeOf(intent.resource) })) return live;
    }
    // After a patch with a version has taken effect, its repetition conflicts with the version that it made.
    if (operation.kind === 'merge-patch' && isKubeError(error, 'KUBE_CONFLICT')) {
      const live = await client.find(intent.resource, intent, signal);
      if (live !== undefined && live.metadata.uid === (uid ?? live.metadata.uid) && contains(live, operation.patch)) return live;
    }
    const gone = isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_PRECONDITION');
    if ((operation.kind === 'delete' || operation.kind === 'evict') && gone) return undefined;
    throw error;
  }
}

async function request(client: KubeClient, intent: WriteIntent, signal: AbortSignal): Promise<KubeObject | undefined> {
  const { resource, operation, uid, resourceVersion } = intent;
  const name: ObjectName = intent;
  switch (operation.kind) {
    case 'create':
      return client.create(resource, operation.object, { signal });
    case 'update': {
      const metadata = { ...operation.object.metadata };
      if (uid !== undefined) metadata.uid = uid;
      if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
      return client.update(resource, { ...operation.object, metadata }, { subresource: operation.subresource, signal });
    }
    case 'strategic-patch':
    case 'merge-patch': {
      const metadata = operation.patch['metadata'];
      const guarded =
        uid === undefined && resourceVersion === undefined
          ? operation.patch
          : {
              ...operation.patch,
              metadata: {
                ...(typeof metadata === 'object' ? metadata : {}),
                ...(uid === undefined ? {} : { uid }),
                ...(resourceVersion === undefined ? {} : { resourceVersion }),
              },
            };
      const options = { subresource: operation.subresource, signal };
      return operation.kind === 'merge-patch'
        ? client.mergePatch(resource, name, guarded, options)
        : client.strategicPatch(resource, name, guarded, options);
    }
    case 'json-patch': {
      const guards: JsonPatchOperation[] = [];
      if (uid !== undefined) guards.push({ op: 'test', path: '/metadata/uid', value: uid });
      // Set instead of tested: then the server reports a conflict, as for any other write.
      if (resourceVersion !== undefined) {
        guards.push({ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion });
      }
      return client.jsonPatch(resource, name, [...guards, ...operation.patch], { subresource: operation.subresource, signal });
    }
    case 'delete':
      return client.delete(resource, name, {
        uid,
        resourceVersion,
        propagation: operation.propagation,
        gracePeriodSeconds: operation.gracePeriodSeconds,
        signal,
      });
    case 'evict':
      await client.evict(name, { uid, gracePeriodSeconds: operation.gracePeriodSeconds, signal });
      return undefined;
  }
}

function typeOf(resource: Resource): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}

/** Whether `live` has all fields of `wanted`; it may have more. Null means absent, as in a merge patch. */
export function contains(live: unknown, wanted: unknown): boolean {
  if (wanted === undefined || Object.is(live, wanted) || (wanted === null && live === undefined)) return true;
  if (Array.isArray(wanted)) {
    return Array.isArray(live) && live.length === wanted.length && wanted.every((item, i) => contains(live[i], item));
  }
  if (typeof wanted !== 'object' || wanted === null || typeof live !== 'object' || live === null) return false;
  const fields = live as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([name, value]) => contains(fields[name], value));
}
