/**
 * I5: what is being deleted is gone, or says what holds it, and that exists.
 */
import type { Condition, ObjectMeta } from '../api/meta.ts';
import { FINALIZER, kilnAnnotation } from '../api/well-known.ts';
import type { World } from '../world/world.ts';
import type { Violation } from './violation.ts';

interface Deleted {
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly conditions: readonly Condition[];
}

export function blockedDeletions(world: World): readonly Violation[] {
  const violations: Violation[] = [];
  for (const { kind, metadata, conditions } of [...vpcs(world), ...subnets(world), ...ips(world)]) {
    // Somebody else's finalizer is somebody else's business.
    if (metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(FINALIZER) !== true) continue;
    const subject = `${kind} ${metadata.name}`;
    const blocked = conditions.find(({ type, status }) => type === 'DeletionBlocked' && status === 'True');
    if (blocked === undefined) {
      violations.push({
        invariant: 'I5',
        subject,
        message: `${subject} is being deleted since ${metadata.deletionTimestamp} and does not say what holds it`,
      });
      continue;
    }
    const named = [...(blocked.message ?? '').matchAll(/\b(Subnet|IP|Pod|Node) ([\w.:/-]*[\w])/g)]
      .map(([, holder = '', name = '']) => ({ holder, name }))
      .filter(({ holder, name }) => !(holder === kind && name === metadata.name));
    if (named.length === 0)
      violations.push({ invariant: 'I5', subject, message: `${subject} names nothing that holds it: "${blocked.message ?? ''}"` });
    for (const { holder, name } of named) {
      if (!exists(world, holder, name))
        violations.push({ invariant: 'I5', subject, message: `${subject} is held by ${holder} ${name}, which does not exist` });
    }
  }
  return violations;
}

function exists(world: World, kind: string, key: string): boolean {
  switch (kind) {
    case 'Subnet':
      return world.subnets.peek(key) !== undefined;
    case 'IP':
      return world.ips.peek(key) !== undefined;
    case 'Pod':
      return world.pods.peek(key) !== undefined;
    default:
      return world.nodes.peek(key) !== undefined;
  }
}

function vpcs(world: World): Deleted[] {
  return Array.from(world.vpcs.entries(), ([, { metadata, status }]) => ({ kind: 'Vpc', metadata, conditions: status?.conditions ?? [] }));
}

function subnets(world: World): Deleted[] {
  return Array.from(world.subnets.entries(), ([, { metadata, status }]) => ({
    kind: 'Subnet',
    metadata,
    conditions: status?.conditions ?? [],
  }));
}

function ips(world: World): Deleted[] {
  return Array.from(world.ips.entries(), ([, { metadata }]) => ({
    kind: 'IP',
    metadata,
    conditions: JSON.parse(metadata.annotations?.[kilnAnnotation.conditions] ?? '[]') as Condition[],
  }));
}
