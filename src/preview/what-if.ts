/**
 * What would become of a cluster if a user applied or deleted these objects: each is validated as the webhook does, in the order of the
 * manifests, and taken in if it is allowed; then the controller does its work, in memory.
 */
import type { ObjectId } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import type { RowId } from '../nb/row-id.ts';
import type { AdmissionResult } from '../webhook/protocol/admission-result.ts';
import type { ReviewedObject } from '../webhook/protocol/admission-review.ts';
import { validateRequest } from '../webhook/review/validate-request.ts';
import { wellTyped } from '../webhook/review/well-typed.ts';
import { equal } from '../engine/equal.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, resourceOfKind, splitKey, traitsOf } from '../world/resources.ts';
import type { Foresight } from './foresight.ts';
import { foreseen, Networks } from './foresight.ts';
import { madePods } from './made-pods.ts';
import { mergedManifest } from './merged-manifest.ts';
import type { Preview, Written } from './preview.ts';

/** What the user does with one object. */
export type Step =
  | { readonly kind: 'apply'; readonly resource: ResourceName; readonly object: ReviewedObject; readonly live: ReviewedObject | undefined }
  | { readonly kind: 'delete'; readonly resource: ResourceName; readonly key: string; readonly live: ReviewedObject | undefined }
  /** A new workload: Kiln observes its pods alone. */
  | { readonly kind: 'workload'; readonly object: ReviewedObject }
  /** A workload that is deleted. @param uids of it and of the workloads that it made */
  | { readonly kind: 'end'; readonly uids: readonly string[] };

export interface Outcome {
  readonly action: 'create' | 'change' | 'unchanged' | 'delete' | 'absent' | 'refused' | 'taken in';
  /** Why it is refused. */
  readonly denials: readonly string[];
  readonly warnings: readonly string[];
}

export interface WhatIf extends Foresight {
  /** In the order of the steps. */
  readonly outcomes: readonly Outcome[];
  readonly written: Written;
  /** Rows that a foreign row prevents, and did not before. */
  readonly conflicts: readonly { readonly id: RowId; readonly message: string }[];
}

/** What Kiln does not implement for an object of a kind that it only observes. */
export type Unimplemented = (resource: ResourceName, object: ReviewedObject) => string | undefined;

/** @param preview settled: what it would write anyway is no consequence of the steps */
export function whatIf(preview: Preview, steps: readonly Step[], unimplemented: Unimplemented): WhatIf {
  const networks = new Networks(preview.world);
  const conflictsBefore = new Map(preview.conflicts);
  preview.api.touched.clear();
  const applied = new Set<ObjectId>();
  const outcomes = steps.map((step) => outcomeOf(preview, step, unimplemented, applied));
  const written = preview.settle();
  const evicted = written.objects.flatMap((write) =>
    write.verb === 'evict' ? [objectId(write.resource, keyOf({ metadata: write }))] : [],
  );
  return {
    outcomes,
    written,
    conflicts: [...preview.conflicts].flatMap(([id, message]) => (conflictsBefore.get(id) === message ? [] : [{ id, message }])),
    ...networks.changes(applied, new Set(evicted)),
    ...foreseen(preview.world, preview.api.touched.values()),
  };
}

function outcomeOf(preview: Preview, step: Step, unimplemented: Unimplemented, applied: Set<ObjectId>): Outcome {
  const { api } = preview;
  const outcome = (action: Outcome['action'], { denials = [], warnings = [] }: Partial<AdmissionResult> = {}): Outcome =>
    denials.length > 0
      ? { action: 'refused', denials: denials.map(({ message }) => message), warnings }
      : { action, denials: [], warnings };
  const refused = (why: string): Outcome => ({ action: 'refused', denials: [why], warnings: [] });
  switch (step.kind) {
    case 'apply': {
      const { resource, live, object } = step;
      const { metadata } = object;
      const missing = missingNamespace(preview, metadata.namespace);
      if (missing !== undefined) return refused(missing);
      const after = live === undefined ? object : mergedManifest(live, object);
      if (!wellTyped(after, traitsOf(resource).definition)) return refused(WRONG_TYPE);
      if (live !== undefined && isSame(live, after)) return outcome('unchanged');
      const answer = answerTo(preview, resource, live === undefined ? 'CREATE' : 'UPDATE', after, live, unimplemented);
      if (answer.denials.length > 0) return outcome('refused', answer);
      applied.add(objectId(resource, keyOf({ metadata: { ...metadata, name: metadata.name ?? '' } })));
      api.put(resource, after);
      if (live !== undefined) return outcome('change', answer);
      const made = createPods(preview, { ...after, kind: traitsOf(resource).kind }, unimplemented);
      return outcome('create', { denials: made.denials, warnings: [...answer.warnings, ...made.warnings] });
    }
    case 'delete': {
      const { resource, key, live } = step;
      if (live === undefined) return outcome('absent');
      const answer = answerTo(preview, resource, 'DELETE', undefined, live, unimplemented);
      if (answer.denials.length > 0) return outcome('refused', answer);
      api.delete(resource, key);
      return outcome('delete', answer);
    }
    case 'workload': {
      const missing = missingNamespace(preview, step.object.metadata.namespace);
      if (missing !== undefined) return refused(missing);
      return outcome('create', createPods(preview, step.object, unimplemented));
    }
    case 'end':
      for (const uid of step.uids) api.ownerGone(uid);
      return outcome(step.uids.length === 0 ? 'absent' : 'delete');
  }
}

/** The pods of a new workload. Those of one template are denied for the same reason, with their names: the first is enough. */
function createPods(preview: Preview, workload: ReviewedObject, unimplemented: Unimplemented): AdmissionResult {
  const { api } = preview;
  const answers = madePods(workload, preview.world.tables[NODES]?.size ?? 0).map((pod): AdmissionResult => {
    const answer = answerTo(preview, PODS, 'CREATE', pod, undefined, unimplemented);
    if (answer.denials.length === 0) api.put(PODS, pod);
    return answer;
  });
  const { denials = [], warnings = [] } = answers.find((answer) => answer.denials.length > 0) ?? answers[0] ?? {};
  return { denials, warnings };
}

const PODS = resourceOfKind('pod') as ResourceName;
const NODES = resourceOfKind('node') as ResourceName;
const NAMESPACES = resourceOfKind('namespace') as ResourceName;
const WRONG_TYPE = 'a field has another type than the definition of its kind says; kubectl apply --dry-run=server names it';

function missingNamespace(preview: Preview, namespace = ''): string | undefined {
  return namespace === '' || preview.api.get(NAMESPACES, namespace) !== undefined ? undefined : `namespace ${namespace} does not exist`;
}

function isSame(before: ReviewedObject, after: ReviewedObject): boolean {
  const { annotations: a = {}, labels: b = {} } = before.metadata;
  const { annotations: c = {}, labels: d = {} } = after.metadata;
  return equal(before.spec, after.spec) && equal(a, c) && equal(b, d);
}

function answerTo(
  preview: Preview,
  resource: ResourceName,
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  object: ReviewedObject | undefined,
  oldObject: ReviewedObject | undefined,
  unimplemented: Unimplemented,
): AdmissionResult {
  const { group, version, plural, kind } = traitsOf(resource);
  const { metadata } = object ?? oldObject ?? { metadata: {} };
  const { namespace, name } = splitKey(keyOf({ metadata: { ...metadata, name: metadata.name ?? '' } }));
  const request = {
    ...{ uid: 'preview', operation, group, version, resource: plural, kind, subresource: '', namespace, name, object, oldObject },
    ...{ dryRun: true, fieldManager: '', preconditionUid: '', user: '' },
  };
  return validateRequest(request, preview.observed(), unimplemented);
}
