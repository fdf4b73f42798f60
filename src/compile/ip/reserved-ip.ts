/**
 * An IP object that a user creates to reserve an address. Kiln completes it with the requested address of its Subnet, or any; then it holds
 * the address until the user deletes it. A pod with its name gets the address.
 */
import type { IP } from '../../api/kinds/ip.ts';
import type { Reason } from '../../api/reasons.ts';
import { labelKey } from '../../api/well-known.ts';
import { isRequest, isReserved, onlyRequests } from '../../world/claimants.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { holderOf } from './ip-holder.ts';
import { addressesOf, ipLabels, ipSpec } from './ip-object.ts';
import { requestProblem, ipAddressRequest, ipAddressMessage } from './ip-request.ts';
import { withNext } from '../next-command.ts';
import type { ConditionOutput, Output } from '../output.ts';
import { writeRejection } from '../write-rejection.ts';
import { commandText } from '../../text/command-text.ts';

export const reservedIp: Rule = {
  name: 'reserved-ip',
  over: (world) => keysOf(world.ips, (ip) => isReserved(ip) || isRequest(ip)),
  run: (world, name) => {
    const ip = world.ips.get(name);
    if (ip === undefined || ip.metadata.deletionTimestamp !== undefined || holderOf(world, ip).kind !== 'reservation') return [];
    const problem = requestProblem(world, ip);
    if (problem !== undefined) return [withCondition(ip, notAccepted(problem, problem.next))];
    // An address that cannot be written into its object is free.
    if (!isReserved(ip) && writeRejection(world, 'ips', name, 'object', ip.metadata.uid)?.inBackoff === true) return [];
    const request: Output = { kind: 'address-request', request: ipAddressRequest(world, ip) };
    const reservation = world.reservations.get(request.request.claimant);
    // A conflict of two holders is reported by the rule of held addresses.
    if (reservation?.kind === 'failed' && reservation.code === 'AddressConflict' && !onlyRequests(ip))
      return [request, { ...patchOf(ip), withoutConditions: ['Accepted'] }];
    if (reservation?.kind === 'failed')
      return [
        request,
        withCondition(
          ip,
          notAccepted(
            { reason: reservation.code, message: ipAddressMessage(ip, reservation.message) },
            commandText`kubectl edit ip ${name}`,
          ),
        ),
      ];
    const addresses = addressesOf(reservation);
    if (addresses === undefined) return [request];
    return [
      request,
      {
        ...patchOf(ip),
        labels: { [labelKey.nodeName]: null, ...ipLabels(addresses.subnet, ip.spec.nodeName ?? ''), [labelKey.ipReserved]: 'true' },
        spec: ipSpec(addresses),
        withoutConditions: ['Accepted'],
      },
    ];
  },
};

function withCondition(ip: IP, condition: ConditionOutput): Output {
  return { ...patchOf(ip), conditions: [condition] };
}

function patchOf(ip: IP): { readonly kind: 'patch'; readonly resource: 'ips'; readonly key: string; readonly uid: string } {
  return { kind: 'patch', resource: 'ips', key: ip.metadata.name, uid: ip.metadata.uid };
}

function notAccepted(
  { reason, message, inProgress }: { readonly reason: Reason; readonly message: string; readonly inProgress?: true },
  next: string,
): ConditionOutput {
  const condition = { type: 'Accepted', status: 'False', reason, message: withNext(message, next) } as const;
  return inProgress === true ? condition : { ...condition, event: 'Warning' };
}
