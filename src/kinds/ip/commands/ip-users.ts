/**
 * The users of an IP object's address, read from the API server.
 */
import type { Pod, StatefulSet } from '../../../api/kubernetes/core.ts';
import type { IP } from '../../../api/kinds/ip.ts';
import { hasPodNetwork, isFinished, ordinalIn } from '../../../compile/pod/view/pod-life.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { PODS } from '../../../kube/resource.ts';
import { splitList } from '../../../net/dual.ts';
import { traitsOf } from '../../../world/resources.ts';
import { addressText } from './reserved-address.ts';

/** Reads all live pods: a pod of another name may use the address. */
export async function usersOf(ip: IP, client: KubeClient): Promise<readonly string[]> {
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

/** A virtual machine that still exists, so it may start again. */
async function keepingMachine({ spec }: IP, client: KubeClient): Promise<string | undefined> {
  const { podType = '', podName: name = '', namespace = '' } = spec;
  if (podType !== 'VirtualMachine') return undefined;
  const machine = await client.find(traitsOf('virtualmachines'), { namespace, name });
  return machine === undefined || (machine.metadata.deletionTimestamp ?? '') !== '' ? undefined : `VirtualMachine ${namespace}/${name}`;
}

/** A StatefulSet whose replicas include this ordinal. */
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
