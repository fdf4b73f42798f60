/**
 * Who judges a write, and what is let through whoever asks: what cannot be judged, what nobody may be kept from (status, finalizers, an
 * object on its way out), and what Kiln itself writes.
 */
import { celFindings } from '../api/cel/cel-rules.ts';
import type { Pod } from '../api/kubernetes/core.ts';
import { dnsNameResolverKind } from '../api/kinds/dns-name-resolver.ts';
import { ipKind } from '../api/kinds/ip.ts';
import { ipPoolKind } from '../api/kinds/ip-pool.ts';
import { iptablesEipKind } from '../api/kinds/iptables-eip.ts';
import type { Kind } from '../api/schema/kind.ts';
import { complete as completed } from '../api/schema/kind.ts';
import type { KubeObject } from '../api/kubernetes/meta.ts';
import { ovnEipKind } from '../api/kinds/ovn-eip.ts';
import { subnetKind } from '../api/kinds/subnet.ts';
import { vipKind } from '../api/kinds/vip.ts';
import { vpcEgressGatewayKind } from '../api/kinds/vpc-egress-gateway.ts';
import { vpcKind } from '../api/kinds/vpc.ts';
import { CONTROLLER_LEASE } from '../api/well-known.ts';
import { BLOCKED_RESOURCES } from '../blockers/dependencies.ts';
import { equal } from '../world/equal.ts';
import type { NatRule } from '../world/nat-rules.ts';
import { isNatRule, NAT_RULES } from '../world/nat-rules.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, RESOURCES, traitsOf } from '../world/resources.ts';
import type { AdmissionRequest, ReviewedObject } from './admission-review.ts';
import {
  iptablesEipChanged,
  iptablesEipCreated,
  ovnEipChanged,
  ovnEipCreated,
  vipChanged,
  vipCreated,
} from './address-object-admission.ts';
import type { AskedFor } from './deletion-admission.ts';
import { deletionAsked } from './deletion-admission.ts';
import { ipChanged, ipCreated } from './ip-admission.ts';
import { ipPoolChanged, ipPoolCreated } from './ip-pool-admission.ts';
import { natRuleChanged, natRuleCreated } from './nat-rule-admission.ts';
import type { Objection, Observed, Opinion } from './opinion.ts';
import { invalid, newOnes, NO_OPINION } from './opinion.ts';
import { podChanged, podCreated } from './pod-admission.ts';
import type { DeletionRequest } from './refused-deletions.ts';
import { subnetChanged, subnetCreated } from './subnet-admission.ts';
import { vpcChanged, vpcCreated } from './vpc-admission.ts';
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

/** Kinds whose definitions have rules that API servers before 1.25 do not know. */
const RULED: Partial<Readonly<Record<ResourceName, Kind<unknown, unknown>>>> = {
  'vpc-egress-gateways': vpcEgressGatewayKind,
  dnsnameresolvers: dnsNameResolverKind,
};

/** What is asked about: the configuration of the API server follows this. */
export const JUDGED = [...Object.keys(JUDGES), ...Object.keys(RULED), ...NAT_RULES] as readonly ResourceName[];

/**
 * What is thought of a request. Queries that only it needs are forgotten afterwards.
 * @param unimplemented what is not implemented for an object of a kind that Kiln only observes
 * @param askedFor what else the same user wanted deleted a short while ago
 * @param ownUser the user that this controller is to the API server; undefined while that is not known: then no request is Kiln's own
 */
export function judge(
  request: AdmissionRequest,
  observed: Observed,
  unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined,
  askedFor: AskedFor = () => false,
  ownUser?: string,
): Opinion {
  const resource = resourceOf(request);
  if (resource === undefined || request.subresource !== '' || isOwn(request, ownUser)) return NO_OPINION;
  return observed.world.glance(() => opinionOf(resource, request, observed, unimplemented, askedFor));
}

/** The object whose deletion is asked for; undefined for every other request, and for a dry run. */
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
  askedFor: AskedFor,
): Opinion {
  const kind = JUDGES[resource];
  const types = kind?.types ?? RULED[resource] ?? (isNatRule(resource) ? NAT_RULE_TYPES : undefined);
  // The API server itself refuses an object whose fields have other types.
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
        warnings: feature === undefined ? [] : [`${what}: this version does not carry out ${feature}`],
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
      return deletionAsked(resource, oldObject.metadata.name ?? name, observed, askedFor);
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
 * The user is what the API server proved of the client. Field manager and preconditions are the client's words: they tell Kiln's writes from
 * those of a person with the same credentials, and count for nobody else.
 */
function isOwn({ operation, fieldManager, preconditionUid, user }: AdmissionRequest, ownUser: string | undefined): boolean {
  if (operation === 'DELETE' && COLLECTORS.includes(user)) return true;
  if (user === '' || user !== ownUser) return false;
  return operation === 'DELETE' ? preconditionUid !== '' : fieldManager === CONTROLLER_LEASE;
}

/** They delete what its owner, or its namespace, leaves behind. The last is both of them where the controller manager has one account for all. */
const COLLECTORS: readonly string[] = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
];

function isGoing({ metadata }: ReviewedObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Status, finalizers, owners and labels are nobody's business here. */
function asksTheSame(before: ReviewedObject, after: ReviewedObject): boolean {
  return equal(before.spec, after.spec) && equal(before.metadata.annotations ?? {}, after.metadata.annotations ?? {});
}

/** An object whose name the server has not chosen yet goes by what it begins with. */
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

/** The resource that a request is about; undefined for one that Kiln does not know. */
export function resourceOf({ resource, group }: Pick<AdmissionRequest, 'resource' | 'group'>): ResourceName | undefined {
  return BY_PLURAL.get(`${resource}.${group}`);
}
