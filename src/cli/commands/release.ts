/**
 * `kiln release`: gives a reserved address back, after a second look that nothing uses it. The deletion names the version of the IP object
 * that was looked at, so that a pod which begins to use it in between is never robbed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod, StatefulSet } from '../../api/core.ts';
import type { IP } from '../../api/ip.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { hasPodNetwork, isFinished, ordinalIn } from '../../compile/pod/pod-life.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/client.ts';
import { PODS } from '../../kube/resource.ts';
import { splitList } from '../../net/dual.ts';
import { traitsOf } from '../../world/resources.ts';
import type { ClusterFlags, CommandIo } from '../cluster-command.ts';
import { patienceMs } from '../cluster-command.ts';
import { CommandFailure, EXIT } from '../command-failure.ts';
import { addressOutput, addressText, conditionOf, IPS } from '../reserved-address.ts';

export interface ReleaseFlags extends ClusterFlags {
  readonly yes?: boolean;
}

const LOOK_MS = 250;

/** @returns the exit code */
export async function release(name: string, flags: ReleaseFlags, io: CommandIo): Promise<number> {
  const first = await unused(name, io.client);
  const address = addressText(first) || 'no address yet';
  const plan = `release ${name}: ${address} of Subnet ${first.spec.subnet ?? ''}; nothing uses it`;
  io.say(plan);
  if (flags.dryRun === 'client') {
    io.out(addressOutput(flags.output, first));
    return EXIT.fine;
  }
  if (flags.yes !== true && flags.dryRun === 'none') {
    if (io.ask === undefined)
      throw new CommandFailure(EXIT.usage, `${name} was not released`, 'there is no terminal to ask on', `kiln release ${name} --yes`);
    if (!(await io.ask('Release it?'))) {
      io.say('nothing was changed');
      return EXIT.findings;
    }
  }
  const ip = await unused(name, io.client);
  const { uid, resourceVersion } = ip.metadata;
  let left: IP | undefined;
  try {
    left = await io.client.delete<IP>(IPS, { name }, { uid, resourceVersion, dryRun: flags.dryRun === 'server' });
  } catch (error) {
    if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_PRECONDITION')) throw error;
    throw new CommandFailure(
      EXIT.findings,
      `${name} was not released`,
      'it changed after it was looked at: something may have begun to use it',
      `kiln release ${name}`,
    );
  }
  if (left !== undefined && flags.wait && flags.dryRun === 'none') await untilGone(ip, flags, io.client);
  io.out(addressOutput(flags.output, ip));
  io.say(`released ${address}; to have it back: ${undo(ip)}`);
  return EXIT.fine;
}

/** The IP object, when nothing uses it. @throws CommandFailure that names who does */
async function unused(name: string, client: KubeClient): Promise<IP> {
  const ip = await client.find<IP>(IPS, { name });
  if (ip === undefined)
    throw new CommandFailure(EXIT.findings, `there is no address to release`, `IP ${name} does not exist`, 'kubectl get ips');
  const users = await usersOf(ip, client);
  if (users.length > 0)
    throw new CommandFailure(
      EXIT.findings,
      `${name} is in use and was not released`,
      `${addressText(ip)} of Subnet ${ip.spec.subnet ?? ''} is used by ${users.slice(0, 10).join(', ')}${users.length > 10 ? ` and ${users.length - 10} more` : ''}`,
      `delete what uses it first; then kiln release ${name}`,
    );
  return ip;
}

/** Every live pod is looked at, not only the one of its name: an address may be used under another one. */
async function usersOf(ip: IP, client: KubeClient): Promise<readonly string[]> {
  const owner = ip.metadata.ownerReferences?.find(({ kind }) => kind === 'Node' || kind === 'Subnet');
  if (owner !== undefined) return [`${owner.kind} ${owner.name}`];
  const { podName = '', namespace = '' } = ip.spec;
  if (namespace === '') return [`Node ${podName}`];
  const pods = await client.listAll<Pod>(PODS);
  const users = pods.filter((pod) => hasPodNetwork(pod) && !isFinished(pod) && (isNamed(pod, ip) || hasAddress(pod, ip)));
  const names = users.map(({ metadata }) => `Pod ${metadata.namespace}/${metadata.name}`);
  const keeper = ip.spec.podType === 'StatefulSet' ? await keepingSet(ip, client) : await keepingMachine(ip, client);
  return keeper === undefined ? names : [...names, keeper];
}

function isNamed({ metadata }: Pod, { spec }: IP): boolean {
  return metadata.name === spec.podName && metadata.namespace === spec.namespace;
}

function hasAddress({ metadata }: Pod, ip: IP): boolean {
  const { annotations = {} } = metadata;
  const held = splitList(addressText(ip));
  return Object.entries(annotations).some(([key, value]) => {
    if (!key.endsWith('.kubernetes.io/ip_address')) return false;
    const provider = key.slice(0, -'/ip_address'.length);
    const bound = annotations[`${provider}/allocated`] === 'true' && annotations[`${provider}/logical_switch`] === ip.spec.subnet;
    return bound && splitList(value).some((text) => held.includes(text));
  });
}

/** A virtual machine that will be started again. */
async function keepingMachine({ spec }: IP, client: KubeClient): Promise<string | undefined> {
  const { podType = '', podName: name = '', namespace = '' } = spec;
  if (podType !== 'VirtualMachine') return undefined;
  const machine = await client.find(traitsOf('virtualmachines'), { namespace, name });
  return machine === undefined || (machine.metadata.deletionTimestamp ?? '') !== '' ? undefined : `VirtualMachine ${namespace}/${name}`;
}

/** A StatefulSet that will make a pod for this ordinal again. */
async function keepingSet(ip: IP, client: KubeClient): Promise<string | undefined> {
  const { podName = '', namespace = '' } = ip.spec;
  const ordinal = ordinalIn(podName);
  if (ordinal === undefined) return undefined;
  const name = podName.slice(0, podName.lastIndexOf('-'));
  const set = await client.find<StatefulSet>(traitsOf('statefulsets'), { namespace, name });
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
  const first = set.spec.ordinals?.start ?? 0;
  const wanted = ordinal >= first && ordinal < first + (set.spec.replicas ?? 1);
  return wanted ? `StatefulSet ${namespace}/${name} for ordinal ${ordinal}` : undefined;
}

async function untilGone(ip: IP, flags: ReleaseFlags, client: KubeClient): Promise<void> {
  const { name, uid } = ip.metadata;
  const until = performance.now() + patienceMs(flags);
  for (;;) {
    const now = await client.find<IP>(IPS, { name });
    if (now === undefined || now.metadata.uid !== uid) return;
    const blocked = conditionOf(now, 'DeletionBlocked')?.message;
    if (performance.now() > until)
      throw new CommandFailure(
        EXIT.timeout,
        `IP ${name} is being deleted and not gone yet`,
        blocked ?? 'no controller has let it go',
        `kubectl get ip ${name} -o yaml`,
      );
    await sleep(LOOK_MS);
  }
}

function undo(ip: IP): string {
  const { podName = '', namespace = '', subnet = '' } = ip.spec;
  const lease = ip.metadata.annotations?.[kilnAnnotation.lease];
  const address = addressText(ip);
  return `kiln reserve ${podName} -n ${namespace} --subnet ${subnet}${address === '' ? '' : ` --ip ${address}`}${lease === undefined ? '' : ` --lease ${lease}`}`;
}
