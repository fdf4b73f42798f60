/** What can finish has finished, and each object that waits reports why. */
import { FINALIZER, kilnAnnotation } from '../../../src/api/well-known.ts';
import { isRequest } from '../../../src/world/claimants.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding, ConvergedCluster } from './check.ts';

/** Deletions and bindings that can finish have finished. @param lost pods of lost nodes stay, and so do their namespaces */
export function unfinishedObjects({ cluster, world, lost }: ConvergedCluster): readonly Finding[] {
  const findings: Finding[] = [];
  for (const table of ['ippools.kubeovn.io', 'pods', 'namespaces', 'nodes']) {
    for (const { metadata } of cluster.lab.store.list(table)) {
      if (metadata.deletionTimestamp === undefined || (lost && (table === 'pods' || table === 'namespaces'))) continue;
      const ours = metadata.finalizers?.includes(FINALIZER) === true;
      if (table === 'ippools.kubeovn.io' ? !ours : table === 'pods' && (metadata.finalizers ?? []).length > 0 && !ours) continue;
      findings.push({
        kind: `progress ${table}`,
        message: `${table} ${metadata.namespace ?? ''}/${metadata.name} is being deleted since ${metadata.deletionTimestamp}, and still exists`,
      });
    }
  }
  for (const [key, pod] of world.pods.entries()) {
    const { annotations = {}, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined || pod.spec.hostNetwork === true || pod.spec.nodeName === undefined) continue;
    const phase = pod.status?.phase ?? 'Pending';
    if (phase === 'Succeeded' || phase === 'Failed' || annotations['ovn.kubernetes.io/allocated'] === 'true') continue;
    const bound = pod.status?.conditions?.find(({ type }) => type === 'kiln.io/NetworkBound');
    if (bound?.status !== 'False' || (bound.message ?? '') === '')
      findings.push({
        kind: 'progress bind',
        message: `Pod ${key} has no address, and no condition reports why: ${JSON.stringify(bound)}`,
      });
    else findings.push(...unfoundedWait(world, key, bound.reason ?? '', bound.message ?? ''));
  }
  return findings;
}

/** A pod waits for addresses of a Subnet that exists and has some. */
function unfoundedWait(world: World, key: string, reason: string, message: string): readonly Finding[] {
  if (reason !== 'AddressUnavailable' && reason !== 'SubnetExhausted') return [];
  const name = /Subnet ([\w.-]+)/.exec(message)?.[1];
  const subnet = name === undefined ? undefined : world.subnets.peek(name);
  const free = Number(subnet?.status?.v4availableIPs ?? 0) + Number(subnet?.status?.v6availableIPs ?? 0);
  return free > 0 && subnet?.metadata.deletionTimestamp === undefined && /no free|exhausted|full/.test(message)
    ? [{ kind: 'progress full', message: `Pod ${key} waits (${message}), and Subnet ${name ?? ''} has ${free} free addresses` }]
    : [];
}

/** An IP object that asks for an address to be reserved gets it, or reports why not. */
export function unansweredRequests({ world }: ConvergedCluster): readonly Finding[] {
  return [...world.ips.entries()].flatMap(([name, ip]) => {
    const { v4IpAddress = '', v6IpAddress = '' } = ip.spec;
    const isUnanswered =
      isRequest(ip) &&
      v4IpAddress === '' &&
      v6IpAddress === '' &&
      ip.metadata.deletionTimestamp === undefined &&
      (ip.spec.subnet ?? '') !== '';
    if (!isUnanswered || ip.metadata.annotations?.[kilnAnnotation.conditions]?.includes('"status":"False"') === true) return [];
    return [{ kind: 'progress request', message: `IP ${name} requests an address and has none, and no condition reports why` }];
  });
}
