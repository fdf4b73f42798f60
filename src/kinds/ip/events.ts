import type { IP } from '../../api/kinds/ip.ts';
import { DEFAULT_PROVIDER, kilnAnnotation } from '../../api/well-known.ts';
import { providerOf } from '../../compile/pod/address/retention.ts';
import type { ChangeEvent, KindEvents } from '../../controller/reports/kind-events.ts';

export const events: KindEvents = (delta) => (delta.type === 'delete' ? releaseEvents(delta.object as unknown as IP) : []);

/** None for nodes, reservations and machines: their IP objects have no pod, or its name is another one. */
function releaseEvents(ip: IP): readonly ChangeEvent[] {
  const { podName = '', namespace = '', podType = '', subnet = '', ipAddress = '', macAddress = '' } = ip.spec;
  const uid = ip.metadata.annotations?.[kilnAnnotation.podUid] ?? '';
  if (uid === '' || podName === '' || namespace === '' || podType === 'VirtualMachine') return [];
  const provider = providerOf(ip) || DEFAULT_PROVIDER;
  const message = `provider=${provider} subnet=${subnet} ip=${ipAddress} mac=${macAddress} logicalSwitchPort=${ip.metadata.name}`;
  return [{ resource: 'pods', namespace, name: podName, uid, event: { type: 'Normal', reason: 'PodNetworkReleased', message } }];
}
