/** The rows of annotations `eip` and `snat` of a pod, the reservation of their addresses, and the condition that says whether they work. */
import { POD_TRANSLATED } from '../../api/well-known.ts';
import { conditionOf } from '../../world/conditions.ts';
import { keysOf } from '../../engine/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { ConditionOutput, Output } from '../output.ts';
import type { PodView } from '../pod/view/pod-view.ts';
import { podOwner, podView } from '../pod/view/pod-view.ts';
import { rowConflictOf } from '../row-conflict.ts';
import type { Problem } from './external-problem.ts';
import { hasExternalPort } from './external-status.ts';
import { foreignNat } from './foreign-nat.ts';
import { inEffect, obstacle, rowsLike } from './nat-in-effect.ts';
import { podNatRows } from './nat-rows.ts';
import { otherSourcesText } from './nat-sources.ts';
import { outgoingPolicies } from './outgoing-policies.ts';
import type { PodUse } from './pod-translation.ts';
import { POD_USES, podTranslation } from './pod-translation.ts';
import { translations } from './translation.ts';

const USES = Object.keys(POD_USES) as readonly PodUse[];

/** Pods with such an annotation, and those with the condition. */
export const podNat: Rule = {
  name: 'pod-nat',
  over: (world) =>
    keysOf(
      world.pods,
      (pod) =>
        USES.some((use) => pod.metadata.annotations?.[POD_USES[use].annotation] !== undefined) ||
        conditionOf('pods', pod, POD_TRANSLATED) !== undefined,
    ),
  run: (world, key) => {
    const pod = world.ask(podView, key);
    if (pod === undefined) return [];
    const results = USES.flatMap((use) => outputsOf(world, use, pod) ?? []);
    const outputs = results.flatMap(({ rows }) => rows);
    if (!pod.alive) return outputs;
    return [
      {
        kind: 'patch',
        resource: 'pods',
        key,
        uid: pod.uid,
        ...conditionFrom(
          results.flatMap(({ problem }) => problem ?? []),
          results.flatMap(({ note }) => note ?? []),
          results.length,
        ),
      },
      ...outputs,
    ];
  },
};

interface Result {
  readonly rows: readonly Output[];
  /** What a user should know of what is in effect. */
  readonly note?: string;
  readonly problem?: Problem;
}

/** Undefined if the pod requests nothing. */
function outputsOf(world: World, use: PodUse, pod: PodView): Result | undefined {
  const key = `${use}/${pod.key}`;
  const requested = world.ask(podTranslation, key);
  if (requested === undefined) return undefined;
  if ('reason' in requested) return { rows: [], problem: requested };
  const { request, placed } = requested;
  const rows: Output[] = request === undefined ? [] : [{ kind: 'address-request', request }];
  const entry = world.derived(translations).get(key);
  if (entry === undefined || entry.result.kind === 'problem')
    return { rows, ...(entry !== undefined && { problem: entry.result as Problem }) };
  const { result } = entry;
  const why = world.ask(obstacle, key);
  const effect = inEffect(world, key);
  if (why !== undefined || effect === undefined)
    return { rows, ...(why !== undefined && { problem: { ...why, message: `${subjectOf(use, pod)}: ${why.message}` } }) };
  rows.push(...podNatRows(use, result, podOwner(pod)), ...outgoingPolicies(world, key, effect, podOwner(pod)));
  const sources = otherSourcesText(world, key);
  const foreign = foreignNat(world, rowsLike(key), result, podOwner(pod));
  if (hasExternalPort(world, result.vpc, result.external) && placed && foreign === undefined)
    return { rows, ...(sources !== '' && { note: `${subjectOf(use, pod)}: ${sources}` }) };
  const conflict = rowConflictOf(world, podOwner(pod)) ?? foreign;
  if (conflict !== undefined) return { rows, problem: { reason: 'RowConflict', message: `${subjectOf(use, pod)}: ${conflict}` } };
  const message = `${subjectOf(use, pod)}: the router of Vpc ${result.vpc} has no port in Subnet ${result.external} yet`;
  return { rows, problem: { reason: 'ExternalPending', message, inProgress: true } };
}

function subjectOf(use: PodUse, { key }: PodView): string {
  return `Pod ${key}: annotation ${POD_USES[use].annotation}`;
}

function conditionFrom(
  problems: readonly Problem[],
  notes: readonly string[],
  requests: number,
): { readonly conditions?: readonly ConditionOutput[]; readonly withoutConditions?: readonly [typeof POD_TRANSLATED] } {
  if (requests === 0) return { withoutConditions: [POD_TRANSLATED] };
  const [first] = problems;
  if (first === undefined)
    return { conditions: [{ type: POD_TRANSLATED, status: 'True', reason: 'Translated', message: notes.join('. ') }] };
  const { reason, inProgress } = first;
  const message = problems.map((problem) => problem.message).join('. ');
  return {
    conditions: [{ type: POD_TRANSLATED, status: 'False', reason, message, ...(inProgress !== true && { event: 'Warning' as const }) }],
  };
}
