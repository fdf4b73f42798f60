/**
 * Events about changes between two observed states of an object, which no rule sees: of a Subnet's gateway, and of addresses that pods no
 * longer have. With Kube-OVN's reasons and sentences. As Kube-OVN's they are sent by the process that leads when it observes the change,
 * and not later.
 */
import { DEFAULT_PROVIDER, kilnAnnotation } from '../../api/well-known.ts';
import type { IP } from '../../api/kinds/ip.ts';
import type { Subnet } from '../../api/kinds/subnet.ts';
import { providerOf } from '../../compile/pod/address/retention.ts';
import type { PlannedEvent } from '../../diff/condition-diff.ts';
import type { Delta } from '../../kube/cache/delta.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';

export interface ChangeEvent {
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly event: PlannedEvent;
}

/** @param delta as the cache of the resource has it, with trimmed objects */
export function eventsOfChange(resource: ResourceName, delta: Delta<KubeObject>): readonly ChangeEvent[] {
  if (resource === 'subnets' && delta.type === 'upsert' && delta.before !== undefined)
    return gatewayEvents(delta.before as unknown as Subnet, delta.object as unknown as Subnet);
  return resource === 'ips' && delta.type === 'delete' ? releaseEvents(delta.object as unknown as IP) : [];
}

function gatewayEvents({ spec: before }: Subnet, { metadata, spec: now }: Subnet): readonly ChangeEvent[] {
  const of = (event: PlannedEvent): ChangeEvent => ({ resource: 'subnets', namespace: '', name: metadata.name, uid: metadata.uid, event });
  const [fromType, toType] = [before.gatewayType ?? '', now.gatewayType ?? ''];
  const [fromNode, toNode] = [before.gatewayNode ?? '', now.gatewayNode ?? ''];
  const events: ChangeEvent[] = [];
  // The default that is filled in is no change.
  if (fromType !== toType && fromType !== '' && toType !== '')
    events.push(
      of({
        type: 'Normal',
        reason: 'SubnetGatewayTypeChanged',
        message: `subnet gateway type changes from ${JSON.stringify(fromType)} to ${JSON.stringify(toType)}`,
      }),
    );
  if (fromNode !== toNode)
    events.push(
      of({
        type: 'Normal',
        reason: 'SubnetGatewayNodeChanged',
        message: `gateway node changes from ${JSON.stringify(fromNode)} to ${JSON.stringify(toNode)}`,
      }),
    );
  return events;
}

/** None for nodes, reservations and machines: their IP objects have no pod, or its name is another one. */
function releaseEvents(ip: IP): readonly ChangeEvent[] {
  const { podName = '', namespace = '', podType = '', subnet = '', ipAddress = '', macAddress = '' } = ip.spec;
  const uid = ip.metadata.annotations?.[kilnAnnotation.podUid] ?? '';
  if (uid === '' || podName === '' || namespace === '' || podType === 'VirtualMachine') return [];
  const provider = providerOf(ip) || DEFAULT_PROVIDER;
  const message = `provider=${provider} subnet=${subnet} ip=${ipAddress} mac=${macAddress} logicalSwitchPort=${ip.metadata.name}`;
  return [{ resource: 'pods', namespace, name: podName, uid, event: { type: 'Normal', reason: 'PodNetworkReleased', message } }];
}
