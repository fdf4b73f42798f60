/** The table of pods: the status column shows waiting containers, exits and deletion. */
import { ageSince } from '../duration.ts';
import { at, list, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Column } from '../resource.ts';

function podReason(pod: KubeObject): string {
  const status = at(pod, 'status');
  let reason = text(at(status, 'reason')) || text(at(status, 'phase'));
  for (const container of list(at(status, 'containerStatuses')).toReversed()) {
    const waiting = text(at(container, 'state', 'waiting', 'reason'));
    const terminated = at(container, 'state', 'terminated');
    if (waiting !== '') reason = waiting;
    else if (terminated !== undefined) {
      const signal = at(terminated, 'signal');
      reason =
        text(at(terminated, 'reason')) ||
        (signal !== undefined && signal !== 0 ? `Signal:${String(signal)}` : `ExitCode:${String(at(terminated, 'exitCode') ?? 0)}`);
    }
  }
  const gated = list(at(status, 'conditions')).some(
    (condition) => at(condition, 'type') === 'PodScheduled' && at(condition, 'reason') === 'SchedulingGated',
  );
  if (gated) reason = 'SchedulingGated';
  if (pod.metadata.deletionTimestamp !== undefined) return at(status, 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  return reason;
}

function readyContainers(pod: KubeObject): string {
  const ready = list(at(pod, 'status', 'containerStatuses')).filter((container) => at(container, 'ready') === true).length;
  return `${ready}/${list(at(pod, 'spec', 'containers')).length}`;
}

function restarts(pod: KubeObject, now: number): string {
  let count = 0;
  let last = '';
  for (const container of list(at(pod, 'status', 'containerStatuses'))) {
    count += Number(at(container, 'restartCount') ?? 0);
    const finished = text(at(container, 'lastState', 'terminated', 'finishedAt'));
    if (finished > last) last = finished;
  }
  return count > 0 && last !== '' ? `${count} (${ageSince(last, now)} ago)` : String(count);
}

function readinessGates(pod: KubeObject): string {
  const gates = list(at(pod, 'spec', 'readinessGates')).map((gate) => text(at(gate, 'conditionType')));
  if (gates.length === 0) return '<none>';
  const passed = gates.filter((gate) =>
    list(at(pod, 'status', 'conditions')).some((condition) => at(condition, 'type') === gate && at(condition, 'status') === 'True'),
  );
  return `${passed.length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  { name: 'Ready', type: 'string', priority: 0, cell: readyContainers },
  { name: 'Status', type: 'string', priority: 0, cell: podReason },
  { name: 'Restarts', type: 'string', priority: 0, cell: restarts },
  { name: 'Age', type: 'string', priority: 0, cell: (pod, now) => ageSince(pod.metadata.creationTimestamp, now) },
  { name: 'IP', type: 'string', priority: 1, cell: (pod) => text(at(pod, 'status', 'podIP')) || '<none>' },
  { name: 'Node', type: 'string', priority: 1, cell: (pod) => text(at(pod, 'spec', 'nodeName')) || '<none>' },
  { name: 'Nominated Node', type: 'string', priority: 1, cell: (pod) => text(at(pod, 'status', 'nominatedNodeName')) || '<none>' },
  { name: 'Readiness Gates', type: 'string', priority: 1, cell: readinessGates },
];
