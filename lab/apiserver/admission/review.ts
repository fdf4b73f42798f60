/** The AdmissionReview that a webhook receives, and the meaning of its answer (`admission.k8s.io/v1`). */
import type { User } from '../authorization/user.ts';
import { userInfo } from '../authorization/user.ts';
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { ResourceDefinition } from '../resource.ts';
import { ApiError } from '../status.ts';

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly definition: ResourceDefinition;
  /** The version that the client wrote, if the webhook receives the object in another version. */
  readonly requested?: ResourceDefinition;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  readonly subresource: string;
  /** A request for many objects (deletecollection): this one has no name in the request. */
  readonly isCollection?: boolean;
  /** CreateOptions, UpdateOptions (also for a patch) or DeleteOptions. */
  readonly options: JsonObject;
}

export function reviewOf(asked: AdmissionRequest, uid: string): JsonObject {
  const { definition, requested = definition, operation, subresource } = asked;
  const subject = asked.object ?? asked.old;
  const name = asked.isCollection === true ? undefined : subject?.metadata.name;
  const namespace = definition.table === 'namespaces' ? subject?.metadata.name : subject?.metadata.namespace;
  const request: JsonObject = {
    uid,
    kind: kindOf(definition),
    resource: resourceOf(definition),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindOf(requested),
    requestResource: resourceOf(requested),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    operation,
    userInfo: userInfo(asked.user),
    object: asked.object ?? null,
    oldObject: asked.old ?? null,
    dryRun: asked.dryRun,
    options: asked.options,
  };
  return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request };
}

function kindOf({ group, version, kind }: ResourceDefinition): JsonObject {
  return { group, version, kind };
}

function resourceOf({ group, version, plural }: ResourceDefinition): JsonObject {
  return { group, version, resource: plural };
}

/** @returns the `response` of an answer. @throws Error when it does not answer this review. */
export function responseOf(answer: Json, uid: string): JsonObject {
  const apiVersion = text(at(answer, 'apiVersion'));
  if (apiVersion !== 'admission.k8s.io/v1' || at(answer, 'kind') !== 'AdmissionReview')
    throw new Error(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${apiVersion}, Kind=${text(at(answer, 'kind'))}`,
    );
  const response = at(answer, 'response');
  if (!isObject(response)) throw new Error('webhook response was absent');
  if (response['uid'] !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`);
  return response;
}

/** @returns warnings. @throws ApiError with the webhook's code, 400 by default. */
export function verdict(name: string, response: JsonObject): string[] {
  if (response['allowed'] === true) return list(response['warnings']).map(text);
  const status = object(response['status']);
  const why = text(status['message']) || text(status['reason']);
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const { code } = status;
  throw new ApiError(
    typeof code === 'number' && code >= 400 && code < 600 ? code : 400,
    text(status['reason']),
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    isObject(status['details']) ? status['details'] : undefined,
  );
}
