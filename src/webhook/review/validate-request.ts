/**
 * Chooses the validation of a write. Always allowed: what cannot be validated; status, finalizers and objects that are being deleted (their
 * change must never be blocked); and Kiln's own writes.
 */
import { celFindings } from '../../api/cel/cel-rules.ts';
import type { Pod } from '../../api/kubernetes/core.ts';
import { dnsNameResolverKind } from '../../api/kinds/dns-name-resolver.ts';
import { ipKind } from '../../api/kinds/ip.ts';
import { ipPoolKind } from '../../api/kinds/ip-pool.ts';
import { iptablesEipKind } from '../../api/kinds/iptables-eip.ts';
import type { Kind } from '../../api/schema/kind.ts';
import { complete as completed } from '../../api/schema/kind.ts';
import type { KubeObject } from '../../api/kubernetes/meta.ts';
import { ovnEipKind } from '../../api/kinds/ovn-eip.ts';
import { subnetKind } from '../../api/kinds/subnet.ts';
import { vipKind } from '../../api/kinds/vip.ts';
import { vpcEgressGatewayKind } from '../../api/kinds/vpc-egress-gateway.ts';
import { vpcKind } from '../../api/kinds/vpc.ts';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { BLOCKED_RESOURCES } from '../../blockers/dependencies.ts';
import { equal } from '../../world/equal.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { isNatRule, NAT_RULES } from '../../world/nat-rules.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, keyOf, traitsOf } from '../../world/resources.ts';
import type { AdmissionRequest, ReviewedObject } from '../protocol/admission-review.ts';
import {
  validateIptablesEipUpdate,
  validateIptablesEipCreate,
  validateOvnEipUpdate,
  validateOvnEipCreate,
  validateVipUpdate,
  validateVipCreate,
} from '../kinds/address-object.ts';
import type { DeletionRules } from '../kinds/deletion.ts';
import { validateDelete } from '../kinds/deletion.ts';
import { validateIpUpdate, validateIpCreate } from '../kinds/ip.ts';
import { validateIpPoolUpdate, validateIpPoolCreate } from '../kinds/ip-pool.ts';
import { validateNatRuleUpdate, validateNatRuleCreate } from '../kinds/nat-rule.ts';
import type { Denial, Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { invalid, newFindings, ALLOWED } from '../protocol/admission-result.ts';
import { validatePodUpdate, validatePodCreate } from '../kinds/pod.ts';
import type { DeletionRequest } from './denied-deletions.ts';
import { validateSubnetUpdate, validateSubnetCreate } from '../kinds/subnet.ts';
import { validateVpcUpdate, validateVpcCreate } from '../kinds/vpc.ts';
import type { TypesOf } from './well-typed.ts';
import { NAT_RULE_TYPES, POD_TYPES, wellTyped } from './well-typed.ts';

interface KindValidator {
  readonly types: TypesOf;
  readonly validateCreate: (object: ReviewedObject, observed: Observed) => AdmissionResult;
  readonly validateUpdate: (before: ReviewedObject, after: ReviewedObject, observed: Observed) => AdmissionResult;
}

function ofKind<Spec, Status>(
  kind: Kind<Spec, Status>,
  validateCreate: (object: KubeObject<Spec, Status>, observed: Observed) => AdmissionResult,
  validateUpdate: (before: KubeObject<Spec, Status>, after: KubeObject<Spec, Status>, observed: Observed) => AdmissionResult,
): KindValidator {
  const typed = (object: ReviewedObject): KubeObject<Spec, Status> => completed(kind, object as unknown as KubeObject<Spec, Status>);
  return {
    types: kind,
    validateCreate: (object, observed) => validateCreate(typed(object), observed),
    validateUpdate: (before, after, observed) => validateUpdate(typed(before), typed(after), observed),
  };
}

const VALIDATORS: Partial<Readonly<Record<ResourceName, KindValidator>>> = {
  vpcs: ofKind(vpcKind, validateVpcCreate, validateVpcUpdate),
  subnets: ofKind(subnetKind, validateSubnetCreate, validateSubnetUpdate),
  ips: ofKind(ipKind, validateIpCreate, validateIpUpdate),
  ippools: ofKind(ipPoolKind, validateIpPoolCreate, validateIpPoolUpdate),
  vips: ofKind(vipKind, validateVipCreate, validateVipUpdate),
  'ovn-eips': ofKind(ovnEipKind, validateOvnEipCreate, validateOvnEipUpdate),
  'iptables-eips': ofKind(iptablesEipKind, validateIptablesEipCreate, validateIptablesEipUpdate),
  pods: {
    types: POD_TYPES,
    validateCreate: (pod, observed) => validatePodCreate(pod as unknown as Pod, observed),
    validateUpdate: (before, after, observed) => validatePodUpdate(before as unknown as Pod, after as unknown as Pod, observed),
  },
};

/** Kinds whose CRDs have CEL rules: API servers before 1.25 ignore those. */
const CEL_VALIDATED: Partial<Readonly<Record<ResourceName, Kind<unknown, unknown>>>> = {
  'vpc-egress-gateways': vpcEgressGatewayKind,
  dnsnameresolvers: dnsNameResolverKind,
};

/** Resources for which the API server calls the webhook; `webhook-configuration.ts` follows this list. */
export const VALIDATED_RESOURCES = [...Object.keys(VALIDATORS), ...Object.keys(CEL_VALIDATED), ...NAT_RULES] as readonly ResourceName[];

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
  const kind = VALIDATORS[resource];
  const types = kind?.types ?? CEL_VALIDATED[resource] ?? (isNatRule(resource) ? NAT_RULE_TYPES : undefined);
  // The API server itself rejects an object with fields of wrong types.
  for (const one of [object, oldObject]) if (one !== undefined && !wellTyped(one, types)) return ALLOWED;
  switch (operation) {
    case 'CREATE': {
      if (object === undefined) return ALLOWED;
      if (kind !== undefined) return kind.validateCreate(named(object, namespace), observed);
      const feature = unimplemented(resource, object);
      const what = `${traitsOf(resource).kind} ${object.metadata.name ?? ''}`;
      const rule = isNatRule(resource) ? validateNatRuleCreate(resource, named(object, namespace) as unknown as NatRule, observed) : [];
      return {
        denials: [...rulesBroken(resource, named(object, namespace)), ...rule],
        warnings: feature === undefined ? [] : [`${what}: Kiln does not implement ${feature}`],
      };
    }
    case 'UPDATE': {
      if (object === undefined || oldObject === undefined) return ALLOWED;
      if (isBeingDeleted(oldObject) || isBeingDeleted(object) || sameSpecAndAnnotations(oldObject, object)) return ALLOWED;
      if (isNatRule(resource)) {
        const [before, after] = [oldObject, object].map((one) => named(one, namespace) as unknown as NatRule) as [NatRule, NatRule];
        return { denials: validateNatRuleUpdate(resource, before, after, observed), warnings: [] };
      }
      if (kind === undefined) return { denials: rulesBroken(resource, named(object, namespace), oldObject), warnings: [] };
      return kind.validateUpdate(named(oldObject, namespace), named(object, namespace), observed);
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
  const kind = CEL_VALIDATED[resource];
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
