/**
 * Ineffective fields and annotations of the kinds whose other rules do not report them: one condition if the kind has conditions, else an
 * Event for each. Vpcs, Subnets, IPPools, Vips and EIPs report theirs with the rest of their status.
 */
import { mayHaveUnreadKeys } from '../api/pod/annotation-keys.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import type { Finding, Subject } from '../api/validation/finding.ts';
import { commandText, inNamespace } from '../text/command-text.ts';
import { conditionOf } from '../world/conditions.ts';
import { keysOf } from '../world/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { Table } from '../world/table.ts';
import type { AnyObservedObject, Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { Output } from './output.ts';
import { misboundPolicyFinding } from './pod/address/misbound.ts';
import { mayBeIneffective, podIneffective } from './pod/report/pod-ineffective.ts';
import { annotationsForTemplate, unreadAnnotations } from './unread-annotations.ts';
import { ineffectiveCondition, ineffectiveType } from './ineffective-condition.ts';

interface Check {
  readonly resource: ResourceName;
  /** Whether an object may have a finding: a cheap test that keeps all others out of the domain. */
  readonly may: (object: never) => boolean;
  readonly findings: Query<readonly Finding[]>;
}

const CHECKS: readonly Check[] = [
  { resource: 'pods', may: mayBeIneffective, findings: podIneffective },
  ...(['nodes', 'ips', 'network-attachment-definitions'] as const).map(ofAnnotations),
  ofNamespaces(),
  ...(['statefulsets', 'virtualmachines'] as const).map(ofWorkload),
];

export const ineffectiveRules: readonly Rule[] = CHECKS.map(ruleOf);

/**
 * The findings about an object whose kind has no conditions; none for other kinds, whose conditions report them. Not for rules: it reads
 * outside of them.
 */
export function ineffectiveWithoutCondition(
  world: World,
  resource: ResourceName,
  key: string,
  object: AnyObservedObject,
): readonly Finding[] {
  if (traitsOf(resource).conditions !== 'none') return [];
  const check = CHECKS.find((one) => one.resource === resource);
  if (check === undefined || !check.may(object as never)) return [];
  return world.glance(() => world.ask(check.findings, key));
}

function ofAnnotations(resource: ResourceName): Check {
  const { kind } = traitsOf(resource);
  return {
    resource,
    may: ({ metadata }: AnyObservedObject) => mayHaveUnreadKeys(kind, metadata.annotations),
    findings: defineQuery(`${resource}-ineffective`, (world, key) => {
      const metadata = tableOf(world, resource).get(key)?.metadata;
      return metadata === undefined ? [] : unreadAnnotations(subjectOf(resource, metadata), metadata.annotations);
    }),
  };
}

/** Includes an unknown policy for misbound pods. */
function ofNamespaces(): Check {
  const unread = ofAnnotations('namespaces');
  return {
    resource: 'namespaces',
    may: (object: AnyObservedObject) => object.metadata.annotations?.[kilnAnnotation.misbound] !== undefined || unread.may(object as never),
    findings: defineQuery('namespace-ineffective', (world, name) => {
      const policy = world.ask(misboundPolicyFinding, name);
      return [...(policy === undefined ? [] : [policy]), ...world.ask(unread.findings, name)];
    }),
  };
}

interface WithTemplate {
  readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
}

function ofWorkload(resource: ResourceName): Check {
  return {
    resource,
    may: ({ metadata }: AnyObservedObject) => metadata.annotations !== undefined,
    findings: defineQuery(`${resource}-ineffective`, (world, key) => {
      const workload = tableOf(world, resource).get(key);
      if (workload === undefined) return [];
      const { template } = (workload.spec ?? {}) as WithTemplate;
      const { metadata } = workload;
      return annotationsForTemplate(subjectOf(resource, metadata), metadata.annotations, template?.metadata?.annotations);
    }),
  };
}

function tableOf(world: World, resource: ResourceName): Table<AnyObservedObject> {
  const table = world.tables[resource];
  if (table === undefined) throw new Error(`the World has no table of ${resource}`);
  return table;
}

function subjectOf(resource: ResourceName, { name, namespace }: AnyObservedObject['metadata']): Subject {
  return { kind: traitsOf(resource).kind, name, ...(namespace !== undefined && { namespace }) };
}

function ruleOf({ resource, may, findings }: Check): Rule {
  const { kind, conditions: place } = traitsOf(resource);
  const type = ineffectiveType(resource);
  return {
    name: `${resource}-ineffective`,
    over: (world) =>
      keysOf(
        tableOf(world, resource),
        (object) => may(object as never) || (place !== 'none' && conditionOf(resource, object, type) !== undefined),
      ),
    run: (world, key): readonly Output[] => {
      const metadata = tableOf(world, resource).get(key)?.metadata;
      if (metadata === undefined || metadata.deletionTimestamp !== undefined) return [];
      const { uid, name, namespace = '' } = metadata;
      const found = world.ask(findings, key);
      if (place === 'none')
        return found.map(({ code, message }) => ({ kind: 'report', resource, key, uid, type: 'Warning', reason: code, message }));
      const next = commandText`kubectl edit ${kind.toLowerCase()} ${name} ${inNamespace(namespace)}`;
      return [{ kind: 'patch', resource, key, uid, ...ineffectiveCondition(found, next, type) }];
    },
  };
}
