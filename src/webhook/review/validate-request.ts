/**
 * Chooses the judge of a write. Always allowed: what cannot be judged; status, finalizers and objects that are being deleted (their change
 * must never be blocked); and Kiln's own writes.
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
import { keyOf, RESOURCES, traitsOf } from '../../world/resources.ts';
import type { AdmissionRequest, ReviewedObject } from '../protocol/admission-review.ts';
import { iptablesEipChanged, iptablesEipCreated, ovnEipChanged, ovnEipCreated, vipChanged, vipCreated } from '../kinds/address-object.ts';
import type { DeletionRules } from '../kinds/deletion.ts';
import { deletionAsked } from '../kinds/deletion.ts';
import { ipChanged, ipCreated } from '../kinds/ip.ts';
import { ipPoolChanged, ipPoolCreated } from '../kinds/ip-pool.ts';
import { natRuleChanged, natRuleCreated } from '../kinds/nat-rule.ts';
import type { Objection, Observed, Opinion } from '../protocol/admission-result.ts';
import { invalid, newOnes, NO_OPINION } from '../protocol/admission-result.ts';
import { podChanged, podCreated } from '../kinds/pod.ts';
import type { DeletionRequest } from './denied-deletions.ts';
import { subnetChanged, subnetCreated } from '../kinds/subnet.ts';
import { vpcChanged, vpcCreated } from '../kinds/vpc.ts';
import type { TypesOf } from './well-typed.ts';
import { NAT_RULE_TYPES, POD_TYPES, wellTyped } from './well-typed.ts';

interface KindJudge {
  readonly types: TypesOf;
  readonly created: (object: ReviewedObject, observed: Observed) => Opinion;
  readonly changed: (before: ReviewedObject, after: ReviewedObject, observed: Observed) => Opinion;
}

function ofKind<Spec, Status>(
  kind: Kind<Spec, Status>,
  created: (object: KubeObject<Spec, Status>, observed: Observed) => Opinion,
  changed: (before: KubeObject<Spec, Status>, after: KubeObject<Spec, Status>, observed: Observed) => Opinion,
): KindJudge {
  const typed = (object: ReviewedObject): KubeObject<Spec, Status> => completed(kind, object as unknown as KubeObject<Spec, Status>);
  return {
    types: kind,
    created: (object, observed) => created(typed(object), observed),
    changed: (before, after, observed) => changed(typed(before), typed(after), observed),
  };
}

const JUDGES: Partial<Readonly<Record<ResourceName, KindJudge>>> = {
  vpcs: ofKind(vpcKind, vpcCreated, vpcChanged),
  subnets: ofKind(subnetKind, subnetCreated, subnetChanged),
  ips: ofKind(ipKind, ipCreated, ipChanged),
  ippools: ofKind(ipPoolKind, ipPoolCreated, ipPoolChanged),
  vips: ofKind(vipKind, vipCreated, vipChanged),
  'ovn-eips': ofKind(ovnEipKind, ovnEipCreated, ovnEipChanged),
  'iptables-eips': ofKind(iptablesEipKind, iptablesEipCreated, iptablesEipChanged),
  pods: {
    types: POD_TYPES,
    created: (pod, observed) => podCreated(pod as unknown as Pod, observed),
    changed: (before, after, observed) => podChanged(before as unknown as Pod, after as unknown as Pod, observed),
  },
};

/** Kinds whose CRDs have CEL rules: API servers before 1.25 ignore those. */
const RULED: Partial<Readonly<Record<ResourceName, Kind<unknown, unknown>>>> = {
  'vpc-egress-gateways': vpcEgressGatewayKind,
  dnsnameresolvers: dnsNameResolverKind,
};

/** Resources for which the API server calls the webhook; `webhook-configuration.ts` follows this list. */
export const JUDGED = [...Object.keys(JUDGES), ...Object.keys(RULED), ...NAT_RULES] as readonly ResourceName[];

/**
 * Judges a request. Queries that only this request needs are dropped from the cache afterwards.
 * @param unimplemented what Kiln does not implement for an object of a kind that it only observes
 * @param deletions what becomes of the deletion of an object in use, and whether the same user requested that of another a short while ago
 * @param ownUser the user name under which the API server knows this controller; undefined while it is unknown: then no request counts as
 *   Kiln's own
 */
export function judge(
  request: AdmissionRequest,
  observed: Observed,
  unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined,
  deletions: DeletionRules = { inUse: 'wait', askedFor: () => false },
  ownUser?: string,
): Opinion {
  const resource = resourceOf(request);
  if (resource === undefined || request.subresource !== '' || isOwn(request, ownUser)) return NO_OPINION;
  return observed.world.glance(() => opinionOf(resource, request, observed, unimplemented, deletions));
}

/** The object that the request deletes; undefined for every other request, and for a dry run. */
export function deletionIn(request: AdmissionRequest): Omit<DeletionRequest, 'user'> | undefined {
  const resource = request.operation === 'DELETE' && !request.dryRun && request.subresource === '' ? resourceOf(request) : undefined;
  if (resource === undefined) return undefined;
  const name = request.oldObject?.metadata.name ?? request.name;
  return { resource, key: keyOf({ metadata: { name, namespace: request.namespace } }) };
}

function opinionOf(
  resource: ResourceName,
  { operation, object, oldObject, name, namespace }: AdmissionRequest,
  observed: Observed,
  unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined,
  deletions: DeletionRules,
): Opinion {
  const kind = JUDGES[resource];
  const types = kind?.types ?? RULED[resource] ?? (isNatRule(resource) ? NAT_RULE_TYPES : undefined);
  // The API server itself rejects an object with fields of wrong types.
  for (const one of [object, oldObject]) if (one !== undefined && !wellTyped(one, types)) return NO_OPINION;
  switch (operation) {
    case 'CREATE': {
      if (object === undefined) return NO_OPINION;
      if (kind !== undefined) return kind.created(named(object, namespace), observed);
      const feature = unimplemented(resource, object);
      const what = `${traitsOf(resource).kind} ${object.metadata.name ?? ''}`;
      const rule = isNatRule(resource) ? natRuleCreated(resource, named(object, namespace) as unknown as NatRule, observed) : [];
      return {
        objections: [...rulesBroken(resource, named(object, namespace)), ...rule],
        warnings: feature === undefined ? [] : [`${what}: Kiln does not implement ${feature}`],
      };
    }
    case 'UPDATE': {
      if (object === undefined || oldObject === undefined) return NO_OPINION;
      if (isGoing(oldObject) || isGoing(object) || asksTheSame(oldObject, object)) return NO_OPINION;
      if (isNatRule(resource)) {
        const [before, after] = [oldObject, object].map((one) => named(one, namespace) as unknown as NatRule) as [NatRule, NatRule];
        return { objections: natRuleChanged(resource, before, after, observed), warnings: [] };
      }
      if (kind === undefined) return { objections: rulesBroken(resource, named(object, namespace), oldObject), warnings: [] };
      return kind.changed(named(oldObject, namespace), named(object, namespace), observed);
    }
    case 'DELETE': {
      if (!BLOCKED_RESOURCES.includes(resource) || oldObject === undefined || isGoing(oldObject)) return NO_OPINION;
      return deletionAsked(resource, oldObject.metadata.name ?? name, observed, deletions);
    }
    default:
      return NO_OPINION;
  }
}

function rulesBroken(resource: ResourceName, object: ReviewedObject, before?: ReviewedObject): readonly Objection[] {
  const kind = RULED[resource];
  if (kind === undefined) return [];
  const { name = '', namespace } = object.metadata;
  const subject = { kind: kind.kind, name, ...(namespace === undefined ? {} : { namespace }) };
  const after = celFindings(kind, subject, object.spec, before?.spec);
  return (before === undefined ? after : newOnes(after, celFindings(kind, subject, before.spec))).map(invalid);
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

function isGoing({ metadata }: ReviewedObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** The change is in status, finalizers, owners or labels only: Kiln's rules do not apply to those. */
function asksTheSame(before: ReviewedObject, after: ReviewedObject): boolean {
  return equal(before.spec, after.spec) && equal(before.metadata.annotations ?? {}, after.metadata.annotations ?? {});
}

/** An object without a name yet is judged by its `generateName`. */
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
  (Object.keys(RESOURCES) as ResourceName[]).map((resource) => {
    const { plural, group } = traitsOf(resource);
    return [`${plural}.${group}`, resource];
  }),
);

/** The resource of a request; undefined if Kiln does not know it. */
export function resourceOf({ resource, group }: Pick<AdmissionRequest, 'resource' | 'group'>): ResourceName | undefined {
  return BY_PLURAL.get(`${resource}.${group}`);
}
