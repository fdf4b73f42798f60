/**
 * The port of a StatefulSet ordinal without a pod, or of a stopped virtual machine. It stays on its switch, in no port group, owned by the
 * IP object that retains the address, with the keys of security groups that the next pod will have. The next pod becomes the row owner, in
 * place.
 */
import { readable } from '../../../api/pod/annotation-limits.ts';
import { securityGroupsIn } from '../../../api/pod/pod-port-validation.ts';
import { podAnnotation } from '../../../api/well-known.ts';
import { isRetained } from '../../../world/claimants.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { Rule } from '../../rule.ts';
import { holderOf } from '../../ip/ip-holder.ts';
import { addressesOfIp } from '../../ip/ip-object.ts';
import { portId } from '../interface/pod-interface.ts';
import { providerOf } from '../address/retention.ts';
import { securityGroupKeys, portAddressText } from './pod-port.ts';
import { subnetView, switchId } from '../../subnet/validity/subnet-view.ts';

const RULE = 'retained-port';

export const retainedPort: Rule = {
  name: RULE,
  over: (world) => keysOf(world.ips, ({ spec }) => isRetained(spec.podType)),
  run: (world, name) => {
    const ip = world.ips.get(name);
    if (ip === undefined || ip.metadata.deletionTimestamp !== undefined) return [];
    const holder = holderOf(world, ip);
    if (holder.kind !== 'statefulset' && holder.kind !== 'machine') return [];
    const groups = securityGroupsIn(
      readable('security_groups', holder.next.annotations[podAnnotation(providerOf(ip), 'security_groups')] ?? ''),
    );
    const addresses = addressesOfIp(ip);
    const subnet = addresses === undefined ? undefined : world.ask(subnetView, addresses.subnet);
    if (addresses === undefined || subnet === undefined || !subnet.isOvn) return [];
    const { uid, creationTimestamp } = ip.metadata;
    return [
      {
        kind: 'row',
        id: portId(name),
        owner: { kind: 'ip', namespace: '', name, uid, created: creationTimestamp },
        rule: RULE,
        parent: { id: switchId(subnet.name), column: 'ports' },
        columns: { name, type: '', options: {}, addresses: [portAddressText(addresses)] },
        externalIds: { pod: `${ip.spec.namespace}/${ip.spec.podName}`, ls: subnet.name, ...securityGroupKeys(groups, subnet) },
      },
    ];
  },
};
