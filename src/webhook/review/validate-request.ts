/**
 * Chooses the validation of a write. Always allowed: what cannot be validated; status, finalizers and objects that are being deleted (their
 * change must never be blocked); and Kiln's own writes.
 */
import { celFindings, hasCelRules } from '../../api/cel/cel-rules.ts';
import type { Kind } from '../../api/schema/kind.ts';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { BLOCKED_RESOURCES } from '../../blockers/dependencies.ts';
import { ADMISSION_OF_KINDS } from '../../kinds/generated/admission.ts';
import { equal } from '../../engine/equal.ts';
import type { ResourceName } from '../../world/resources.ts';
import { keyOf, RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { AdmissionRequest, ReviewedObject } from '../protocol/admission-review.ts';
import type { DeletionRules } from '../kinds/deletion.ts';
import { validateDelete } from '../kinds/deletion.ts';
import type { Denial, Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { invalid, newFindings, ALLOWED } from '../protocol/admission-result.ts';
import type { KindAdmission } from '../protocol/kind-admission.ts';
import type { DeletionRequest } from './denied-deletions.ts';
import { wellTyped } from './well-typed.ts';

const ADMISSION: Readonly<Partial<Record<ResourceName, KindAdmission>>> = ADMISSION_OF_KINDS;

/** The definition of a kind with CEL rules: API servers before 1.25 ignore those. */
function celValidated(resource: ResourceName): Kind<unknown, unknown> | undefined {
  const { definition } = traitsOf(resource);
  return definition !== undefined && hasCelRules(definition) ? definition : undefined;
}

const isImplemented = (resource: ResourceName): boolean => traitsOf(resource).unimplemented === undefined;

/** Resources for which the API server calls the webhook; `webhook-configuration.ts` follows this list. */
export const VALIDATED_RESOURCES: readonly ResourceName[] = [
  ...RESOURCE_NAMES.filter((resource) => ADMISSION[resource] !== undefined && isImplemented(resource)),
  ...RESOURCE_NAMES.filter((resource) => ADMISSION[resource] === undefined && celValidated(resource) !== undefined),
  ...RESOURCE_NAMES.filter((resource) => ADMISSION[resource] !== undefined && !isImplemented(resource)),
];

/** The name of the webhook that a resource has to itself. */
export function ownWebhookOf(resource: ResourceName): string | undefined {
  return ADMISSION[resource]?.webhook;
}

/**
 * Validates a request. Queries that only this request needs are dropped from the cache afterwards.
 * @param unimplemented what Kiln does not implement for an object of a kind that it only observes
 * @param deletions what becomes of the deletion of an object in use, and whether another deletion of the same user was denied a short while
 *   ago
 * @param ownUser the user name under which the API server knows this controller; undefined while it is unknown: then no request counts as
 *   Kiln's own
 */
export function validateRequest(
  request: AdmissionRequest,
  observed: Observed,
  unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined,
  deletions: DeletionRules = { inUse: 'wait', recentlyDenied: () => false },
  ownUser?: string,
): AdmissionResult {
  const resource = resourceOf(request);
  if (resource === undefined || request.subresource !== '' || isOwn(request, ownUser)) return ALLOWED;
  return observed.world.glance(() => validate(resource, request, observed, unimplemented, deletions));
}

/** The object that the request deletes; undefined for every other request, and for a dry run. */
export function deletionIn(request: AdmissionRequest): Omit<DeletionRequest, 'user'> | undefined {
  const resource = request.operation === 'DELETE' && !request.dryRun && request.subresource === '' ? resourceOf(request) : undefined;
  if (resource === undefined) return undefined;
  const name = request.oldObject?.metadata.name ?? request.name;
  return { resource, key: keyOf({ metadata: { name, namespace: request.namespace } }) };
}

function validate(
  resource: ResourceName,
  { operation, object, oldObject, name, namespace }: AdmissionRequest,
  observed: Observed,
  unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined,
  deletions: DeletionRules,
): AdmissionResult {
  const kind = ADMISSION[resource];
  const types = kind?.types ?? celValidated(resource);
  // The API server itself rejects an object with fields of wrong types.
  for (const one of [object, oldObject]) if (one !== undefined && !wellTyped(one, types)) return ALLOWED;
  switch (operation) {
    case 'CREATE': {
      if (object === undefined) return ALLOWED;
      const created = named(object, namespace);
      const { denials, warnings } = kind?.validateCreate(created, observed) ?? ALLOWED;
      const feature = isImplemented(resource) ? undefined : unimplemented(resource, object);
      const what = `${traitsOf(resource).kind} ${object.metadata.name ?? ''}`;
      return {
        denials: [...rulesBroken(resource, created), ...denials],
        warnings: [...warnings, ...(feature === undefined ? [] : [`${what}: Kiln does not implement ${feature}`])],
      };
    }
    case 'UPDATE': {
      if (object === undefined || oldObject === undefined) return ALLOWED;
      if (isBeingDeleted(oldObject) || isBeingDeleted(object) || sameSpecAndAnnotations(oldObject, object)) return ALLOWED;
      const [before, after] = [named(oldObject, namespace), named(object, namespace)];
      const { denials, warnings } = kind?.validateUpdate(before, after, observed) ?? ALLOWED;
      return { denials: [...rulesBroken(resource, after, oldObject), ...denials], warnings };
    }
    case 'DELETE': {
      if (!BLOCKED_RESOURCES.includes(resource) || oldObject === undefined || isBeingDeleted(oldObject)) return ALLOWED;
      return validateDelete(resource, oldObject.metadata.name ?? name, observed, deletions);
    }
    default:
      return ALLOWED;
  }
}

function rulesBroken(resource: ResourceName, object: ReviewedObject, before?: ReviewedObject): readonly Denial[] {
  const kind = celValidated(resource);
  if (kind === undefined) return [];
  const { name = '', namespace } = object.metadata;
  const subject = { kind: kind.kind, name, ...(namespace === undefined ? {} : { namespace }) };
  const after = celFindings(kind, subject, object.spec, before?.spec);
  return (before === undefined ? after : newFindings(after, celFindings(kind, subject, before.spec))).map(invalid);
}

/**
 * The API server has authenticated the user. The client itself chooses field manager and preconditions: they distinguish Kiln's writes from
 * those of a person with the same credentials, and are ignored for every other user.
 */
function isOwn({ operation, fieldManager, preconditionUid, user }: AdmissionRequest, ownUser: string | undefined): boolean {
  if (operation === 'DELETE' && COLLECTORS.includes(user)) return true;
  if (user === '' || user !== ownUser) return false;
  return operation === 'DELETE' ? preconditionUid !== '' : fieldManager === CONTROLLER_LEASE;
}

/** Accounts that delete dependents of a deleted owner or namespace. The last one does both if the controller manager uses one account. */
const COLLECTORS: readonly string[] = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
];

function isBeingDeleted({ metadata }: ReviewedObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** The change is in status, finalizers, owners or labels only: Kiln's rules do not apply to those. */
function sameSpecAndAnnotations(before: ReviewedObject, after: ReviewedObject): boolean {
  return equal(before.spec, after.spec) && equal(before.metadata.annotations ?? {}, after.metadata.annotations ?? {});
}

/** An object without a name yet is validated with its `generateName`. */
function named(object: ReviewedObject, namespace: string): ReviewedObject {
  const { metadata } = object;
  return {
    ...object,
    spec: object.spec ?? {},
    metadata: {
      ...metadata,
      name: metadata.name ?? metadata.generateName ?? '',
      uid: metadata.uid ?? '',
      creationTimestamp: metadata.creationTimestamp ?? '1970-01-01T00:00:00Z',
      ...(namespace !== '' && { namespace }),
    },
  };
}

const BY_PLURAL: ReadonlyMap<string, ResourceName> = new Map(
  RESOURCE_NAMES.map((resource) => {
    const { plural, group } = traitsOf(resource);
    return [`${plural}.${group}`, resource];
  }),
);

/** The resource of a request; undefined if Kiln does not know it. */
export function resourceOf({ resource, group }: Pick<AdmissionRequest, 'resource' | 'group'>): ResourceName | undefined {
  return BY_PLURAL.get(`${resource}.${group}`);
}
