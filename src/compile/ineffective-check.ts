/**
 * Ineffective fields and annotations of a kind whose other rules do not report them: one condition if the kind has conditions, else an Event
 * for each.
 */
import { mayHaveUnreadKeys } from '../api/pod/annotation-keys.ts';
import type { Finding, Subject } from '../api/validation/finding.ts';
import { commandText, inNamespace } from '../text/command-text.ts';
import { conditionOf } from '../world/conditions.ts';
import { keysOf } from '../engine/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { Table } from '../engine/table.ts';
import type { AnyObservedObject, Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Rule } from './rule.ts';
import type { Output } from './output.ts';
import { annotationsForTemplate, unreadAnnotations } from './unread-annotations.ts';
import { ineffectiveCondition, ineffectiveType } from './ineffective-condition.ts';

/** The part `ineffective` of the record of a kind. */
export interface IneffectiveCheck {
  readonly resource: ResourceName;
  /** Whether an object may have a finding: a cheap test that keeps all others out of the domain. */
  readonly may: (object: never) => boolean;
  readonly findings: Query<readonly Finding[]>;
}

/** Annotations that no program reads. */
export function ofAnnotations(resource: ResourceName): IneffectiveCheck {
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

interface WithTemplate {
  readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
}

/** Annotations of a workload that belong into its template. */
export function ofWorkload(resource: ResourceName): IneffectiveCheck {
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

export function ineffectiveRule({ resource, may, findings }: IneffectiveCheck): Rule {
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
