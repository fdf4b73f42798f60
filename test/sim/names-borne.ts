/**
 * Names that decide what is whose: the interfaces of a virtual machine bear its name and have its addresses, whichever of its pods runs it; and of a Subnet and a Vpc with one
 * name one alone is in effect, since ports between them are named after both. Read from objects, by no rule.
 */
import { launchedInstance } from '../../src/api/kubernetes/virtual-machine.ts';
import type { Pod } from '../../src/api/kubernetes/core.ts';
import { annotationKey, POD_CONDITION } from '../../src/api/well-known.ts';
import type { World } from '../../src/world/world.ts';
import { RESTORED } from './draw-broad.ts';
import type { Finding } from './judge.ts';
import { isInPlace, isTrue, said } from './reading.ts';

export function namesBorne(world: World): readonly Finding[] {
  const found: Finding[] = [];
  const say = (kind: string, name: string, what: string): void =>
    void found.push({ kind: `name ${kind} ${what.split(' ')[0] ?? ''}`, message: `${kind} ${name}: ${what}` });
  const launchers = Map.groupBy(
    [...world.pods.entries()].filter(([, pod]) => runsInPeace(pod)),
    ([, { metadata }]) => `${metadata.namespace ?? ''}/${launchedInstance(metadata)?.name ?? ''}`,
  );
  for (const [machine, pods] of launchers) {
    const name = machine.slice(machine.indexOf('/') + 1);
    if (name === '') continue;
    for (const [key, pod] of pods)
      if (said(pod, 'virtualmachine') !== name)
        say('Pod', key, `virtual machine that it is told is ${said(pod, 'virtualmachine') || 'none'}, and it runs ${name}`);
    const addresses = new Set(pods.map(([, pod]) => said(pod, 'ip_address')));
    if (addresses.size > 1) say('VirtualMachineInstance', machine, `addresses of its pods are ${[...addresses].join(' and ')}`);
  }
  for (const [name, subnet] of world.subnets.entries()) {
    const vpc = world.vpcs.peek(name);
    if (vpc !== undefined && isInPlace(subnet) && isTrue(vpc.status?.conditions, 'Ready') && isTrue(vpc.status?.conditions, 'Accepted'))
      say('Subnet', name, 'Vpc of its name is in effect, and so is it');
  }
  return found;
}

/** It has its network, and is told nothing against that. */
function runsInPeace(pod: Pod): boolean {
  const { metadata, status } = pod;
  const isTold = status?.conditions?.some(({ type, status: is }) => type === POD_CONDITION && is === 'False') === true;
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed' || metadata.deletionTimestamp !== undefined;
  const isPlain = metadata.labels?.[RESTORED] === undefined && metadata.annotations?.[annotationKey.vip] === undefined;
  return said(pod, 'allocated') === 'true' && !isTold && !isOver && isPlain;
}
