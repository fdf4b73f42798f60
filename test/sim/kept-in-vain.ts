/**
 * What is kept although it is of no use, or let go although it is used: an address of a Subnet that is being deleted, for a pod that is away; the lease of a Vip that
 * somebody uses; a lease that nobody can read, and of which nothing is said. Read from objects, by no rule.
 */
import { parseDuration } from '../../src/api/values/duration.ts';
import { FINALIZER, kilnAnnotation, labelKey } from '../../src/api/well-known.ts';
import { addressObjects } from '../../src/invariants/address-holders.ts';
import { conditionsOf } from '../../src/world/conditions.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';

export function keptInVain(world: World): readonly Finding[] {
  const found: Finding[] = [];
  const say = (kind: string, name: string, what: string): void =>
    void found.push({ kind: `I6 vain ${kind} ${what.split(' ')[0] ?? ''}`, message: `I6: ${kind} ${name}: ${what}` });
  for (const [name, ip] of world.ips.entries()) {
    const { deletionTimestamp, finalizers = [], labels = {} } = ip.metadata;
    const { podType = '', podName = '', namespace = '', subnet = '' } = ip.spec;
    if (deletionTimestamp !== undefined || !finalizers.includes(FINALIZER)) continue;
    const isLost = saysNothing(ip.metadata.annotations ?? {}, conditionsOf('ips', ip));
    if (isLost) say('IP', name, 'lease that it asks for cannot be read, and it is not told');
    const isKept = (podType === 'StatefulSet' || podType === 'VirtualMachine') && labels[labelKey.ipReserved] !== 'true';
    const home = world.subnets.peek(subnet);
    const key = `${namespace}/${podName}`;
    if (!isKept || home?.metadata.deletionTimestamp === undefined) continue;
    if (world.pods.peek(key) === undefined && world.pods.peekBucket('instance', key).size === 0)
      say('IP', name, `address of Subnet ${subnet}, which is being deleted, is kept for a pod that is away`);
  }
  for (const { kind, name, held, terminating, annotations, conditions } of addressObjects(world))
    if (held !== undefined && !terminating && saysNothing(annotations, conditions))
      say(kind, name, 'lease that it asks for cannot be read, and it is not told');
  for (const [name, { metadata, spec, status }] of world.vips.entries()) {
    const isIdle = status?.conditions?.some(({ type, status: is }) => type === 'Idle' && is === 'True') === true;
    if (!isIdle || metadata.deletionTimestamp !== undefined) continue;
    const user = (spec.type ?? '') !== '' ? `its type ${spec.type ?? ''}` : userOf(world, name);
    if (user !== undefined) say('Vip', name, `lease runs, and it is used by ${user}`);
  }
  return found;
}

function saysNothing(annotations: Readonly<Record<string, string>>, conditions: readonly { readonly type?: string }[]): boolean {
  const lease = annotations[kilnAnnotation.lease];
  return lease !== undefined && parseDuration(lease) === undefined && !conditions.some(({ type }) => type === 'LeaseInvalid');
}

/** A pod whose ports may have its address beside their own, or a rule that translates to it. */
function userOf(world: World, vip: string): string | undefined {
  const [pod] = world.pods.peekBucket('allowedPair', vip);
  if (pod !== undefined) return `Pod ${pod}`;
  for (const resource of ['ovn-fips', 'ovn-dnat-rules', 'ovn-snat-rules'] as const)
    for (const [name, { spec }] of world.natRules[resource].entries())
      if (spec.ipName === vip && spec.ipType === 'vip') return `${resource} ${name}`;
  return undefined;
}
