/** An audit of what a fresh controller has read: for `kiln audit`, and before and after a repair. */
import type { FreshController } from '../../controller/fresh-controller.ts';
import { leftoverGroups } from '../../explain/leftovers.ts';
import { statusOf } from '../../explain/status.ts';
import { checkInvariants } from '../../invariants/check-invariants.ts';
import { resourceOfKind } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { planOf } from '../cluster/collection.ts';
import { asReported } from './as-reported.ts';
import { auditGroups, INVARIANT_TEXT, isOfKiln } from './audit-findings.ts';
import type { AuditReport } from './audit-text.ts';

/**
 * @param version of Kubernetes
 * @param northbound the way to OVN
 */
export function auditReport(fresh: FreshController, version: string, northbound: string): AuditReport {
  const { world, desired } = fresh;
  const plan = fresh.plan();
  const status = statusOf(world, true, undefined, asReported(plan));
  const groups = auditGroups({
    world,
    plan,
    conflicts: fresh.conflicts().flatMap(({ id, verdict }) => (verdict.kind === 'conflict' ? [{ id, message: verdict.message }] : [])),
    violations: checkInvariants({ world, plan: { rows: [], objects: [] } }),
    status,
    leftovers: leftoverGroups(world, desired.rows),
    // The plan of a controller has no more than what it would do.
    kept: planOf(fresh).filter(({ what, fate }) => what === 'row' && fate !== 'collect'),
  });
  return {
    cluster: clusterText(world, version),
    northbound,
    time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    counts: status.counts,
    groups: groups.map((group) => ({ ...group, text: INVARIANT_TEXT[group.invariant] })),
    count: groups.reduce((sum, { findings }) => sum + findings.length, 0),
    notJudged: [
      ...status.notes.map(({ kind, key, message }) => `${kind} ${key}: ${message}`),
      ...status.neighbours.flatMap(({ name, rows }) => (name === 'kube-ovn' ? [] : [`${rows} rows of ${name}: another program's`])),
      ...(isOfKiln(world) ? [] : [OTHER_LAYOUT]),
    ],
  };
}

const OTHER_LAYOUT =
  'Kiln does not run this cluster: rows are compared with the layout that Kiln writes (Kube-OVN 1.17), so those of another release may differ without being wrong';

/** A cluster has no name; the uid of this namespace is used as its identity everywhere. */
function clusterText({ tables }: World, version: string): string {
  const namespaces = resourceOfKind('namespace');
  const uid = namespaces === undefined ? undefined : tables[namespaces]?.peek('kube-system')?.metadata.uid;
  return `cluster ${uid ?? 'without kube-system'}, Kubernetes ${version}`;
}
