/**
 * Requests as they are sent. A patch, a deletion and an eviction name the uid of the object that was observed. What is written as a whole
 * (spec, finalizers, conditions, status of a custom resource) names the resourceVersion that it was read at. Kiln deletes addresses that
 * nothing uses, evicts pods whose Namespace asks for that, and deletes nothing else.
 */
import { kilnAnnotation } from '../../../src/api/well-known.ts';
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import { parseTarget } from '../../../lab/apiserver/request.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';

/** Kinds whose objects Kiln deletes. */
const DELETED_BY_KILN: ReadonlySet<string> = new Set(['ips', 'vips', 'ovn-eips', 'iptables-eips']);

/**
 * @param evicts whether a Namespace asks for evictions, or did since the last check
 * @param takesPods whether a Subnet of a Namespace may accept the pod that replaces an evicted one
 * @returns what is wrong with it, as the rest of a sentence
 */
export function forbiddenRequest(
  store: ObjectStore,
  { method, path }: Pick<KubeRequest, 'method' | 'path'>,
  evicts: (namespace: string) => boolean,
  takesPods: (namespace: string) => boolean,
): string | undefined {
  const [bare = ''] = path.split('?');
  if (bare.includes('/leases')) return undefined;
  const target = parseTarget(bare);
  if (method === 'DELETE' && !DELETED_BY_KILN.has(target?.plural ?? '')) return 'deletes an object of a kind that only users delete';
  if (target === undefined || method === 'GET' || !bare.endsWith('/eviction')) return undefined;
  const pod = store.get('pods', `${target.namespace}/${target.name}`);
  if (pod === undefined) return undefined;
  if (pod.metadata.ownerReferences?.some(({ controller }) => controller === true) !== true)
    return 'evicts a pod without a controller, which nothing creates again';
  if (!takesPods(target.namespace)) return 'evicts a pod while all Subnets of its Namespace are invalid';
  return evicts(target.namespace) ? undefined : `evicts a pod, and its Namespace never had ${kilnAnnotation.misbound}=evict`;
}

interface Body {
  readonly metadata?: {
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly finalizers?: unknown;
    readonly annotations?: Readonly<Record<string, unknown>>;
  };
  readonly spec?: unknown;
  readonly status?: { readonly conditions?: unknown };
  readonly preconditions?: { readonly uid?: string };
  readonly deleteOptions?: { readonly preconditions?: { readonly uid?: string } };
}

/** @returns what is wrong with it, as the rest of a sentence */
export function requestWithoutPreconditions({
  method,
  path,
  body: sent,
}: Pick<KubeRequest, 'method' | 'path' | 'body'>): string | undefined {
  const [bare = ''] = path.split('?');
  if (method === 'GET' || /\/(leases|events)\b/.test(bare)) return undefined;
  const body = (sent ?? {}) as Body;
  if (method === 'DELETE') return body.preconditions?.uid === undefined ? 'has no precondition on the uid of the object' : undefined;
  if (method === 'POST' && bare.endsWith('/eviction'))
    return body.deleteOptions?.preconditions?.uid === undefined ? 'has no precondition on the uid of the pod' : undefined;
  if (method === 'PUT')
    return body.metadata?.resourceVersion === undefined ? 'does not name the resourceVersion that it replaces' : undefined;
  if (method !== 'PATCH') return undefined;
  const { uid, resourceVersion, finalizers, annotations = {} } = body.metadata ?? {};
  if (uid === undefined) return 'does not name the uid of the object';
  if (resourceVersion !== undefined) return undefined;
  const whole =
    finalizers !== undefined
      ? 'finalizers'
      : body.spec !== undefined
        ? 'the spec'
        : Object.hasOwn(annotations, kilnAnnotation.conditions) ||
            (Array.isArray(body.status?.conditions) && !/\/(pods|nodes)\//.test(bare))
          ? 'conditions'
          : body.status !== undefined && bare.endsWith('/status') && !/\/(pods|nodes)\//.test(bare)
            ? 'the status'
            : undefined;
  return whole === undefined ? undefined : `writes ${whole} and does not name the resourceVersion that it replaces`;
}
