/**
 * An explanation as JSON. A stable interface: fields may be added, none is renamed or removed.
 */
import type { Branches, DrawnObject } from './dependents.ts';
import type { Explanation } from './explanation.ts';

export function explanationJson(explanation: Explanation): object {
  const { subject, implemented, dependencies, dependents, blockers, owners, created, rows, waiting, notes, unattended, next } = explanation;
  return {
    object: objectJson(subject),
    carriedOut: implemented,
    waiting: waiting ?? null,
    notes,
    unattended: unattended ?? null,
    blockers: { count: blockers.count, names: blockers.names },
    holds: branchesJson('holds', dependencies),
    heldBy: branchesJson('heldBy', dependents),
    madeBy: owners.map(({ apiVersion, kind, name, uid }) => ({ apiVersion, kind, name, uid })),
    makes: createdJson(created.objects, created.more),
    northbound: rows === undefined ? null : { count: rows.count, rows: rows.rows },
    next,
  };
}

/** @param way whether the branches are dependencies or dependents */
export function branchesJson(way: 'holds' | 'heldBy', { objects, more }: Branches): object {
  return {
    objects: objects.map((one) => ({
      ...objectJson(one),
      blocks: one.blocks,
      [way]: branchesJson(way, { objects: one.children, more: one.more }),
    })),
    more,
  };
}

function createdJson(objects: readonly DrawnObject[], more: number): object {
  return { objects: objects.map((one) => ({ ...objectJson(one), makes: createdJson(one.children, one.more) })), more };
}

function objectJson({ type, kind, namespace, name, uid, created, addresses, state }: DrawnObject): object {
  return {
    kind,
    resource: type,
    ...(namespace === '' ? {} : { namespace }),
    name,
    uid: uid ?? null,
    created: created ?? null,
    addresses,
    ready: state.ready,
    reason: state.reason,
    since: state.since,
  };
}
