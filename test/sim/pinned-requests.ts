/**
 * What a controller asks of the API server is for the object that it has seen: a patch, a deletion and an eviction name its uid; and what is written over as a whole (the
 * spec, the list of finalizers, a list of conditions, the status of a custom resource) names the version that it was read from. Read from requests as they are sent:
 * that one of these is missing shows otherwise only where somebody is faster within a millisecond.
 */
import { kilnAnnotation } from '../../src/api/well-known.ts';
import type { KubeRequest } from '../../src/kube/transport.ts';

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
export function unpinned({ method, path, body: sent }: Pick<KubeRequest, 'method' | 'path' | 'body'>): string | undefined {
  const [bare = ''] = path.split('?');
  if (method === 'GET' || /\/(leases|events)\b/.test(bare)) return undefined;
  const body = (sent ?? {}) as Body;
  if (method === 'DELETE') return body.preconditions?.uid === undefined ? 'does not say which object of that name it deletes' : undefined;
  if (method === 'POST' && bare.endsWith('/eviction'))
    return body.deleteOptions?.preconditions?.uid === undefined ? 'does not say which pod of that name is to go' : undefined;
  if (method === 'PUT') return body.metadata?.resourceVersion === undefined ? 'writes over a version that it does not name' : undefined;
  if (method !== 'PATCH') return undefined;
  const { uid, resourceVersion, finalizers, annotations = {} } = body.metadata ?? {};
  if (uid === undefined) return 'does not say which object of that name it is for';
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
  return whole === undefined ? undefined : `writes ${whole} over a version that it does not name`;
}
