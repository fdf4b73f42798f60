/**
 * The IP object of an interface has the name of its port. If an object of this name is not the one that the interface needs, that is a name
 * conflict: the interface gets no address until the object is completed or gone. If the object stays, the pod reports it.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import { isTerminating } from '../../../api/kubernetes/meta.ts';
import type { Reason } from '../../../api/reasons.ts';
import { FINALIZER } from '../../../api/well-known.ts';
import { claimantOfIp, isRequest, isReserved } from '../../../world/claimants.ts';
import type { World } from '../../../world/world.ts';
import { ipOfAnother } from '../../ip/ip-holder.ts';
import { ipPatchRejection } from '../../ip/ip-rejection.ts';
import { requestProblem } from '../../ip/ip-request.ts';
import type { Held } from './held-addresses.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { excludedFromIp, keepsIp } from './pod-subnet.ts';
import { commandText } from '../../../text/command-text.ts';

export type NameConflict =
  /** The object stays as it is. */
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly message: string }
  /** The object is deleted or completed without the user. */
  | { readonly kind: 'pending' };

const PENDING: NameConflict = { kind: 'pending' };

/** @param subnets Subnets from which the interface may have its address */
export function ipNameConflict(world: World, nic: PodInterface, held: Held, subnets: readonly string[]): NameConflict | undefined {
  const ip = world.ips.get(nic.port);
  if (ip === undefined || keepsIp(world, nic, held)) return undefined;
  if (held.ip !== undefined && !isTerminating(ip) && (isReserved(ip) || isRequest(ip))) return reservedForPod(world, nic, ip, subnets);
  const { name, finalizers = [] } = ip.metadata;
  const look = commandText`kubectl describe ip ${name}`;
  if (isTerminating(ip)) {
    const others = finalizers.filter((one) => one !== FINALIZER);
    if (others.length === 0) return PENDING;
    return waiting(`IP ${name}, which has the name of its port, is being deleted and blocked by finalizer ${others.join(', ')}; ${look}`);
  }
  const elsewhere = ipOfAnother(world, ip);
  return elsewhere === undefined ? PENDING : waiting(elsewhere);
}

/** A user reserved it for this pod: the pod gets its addresses, and none before it has them. */
function reservedForPod(world: World, nic: PodInterface, ip: IP, subnets: readonly string[]): NameConflict {
  const { name } = ip.metadata;
  const { subnet = '' } = ip.spec;
  if (!subnets.includes(subnet))
    return waiting(
      `IP ${name} is reserved for this pod in Subnet ${subnet}, but the pod belongs to ${subnets.join(', ')}; ${commandText`kubectl delete ip ${name}, or name Subnet ${subnet} in the pod`}`,
    );
  const problem = requestProblem(world, ip);
  const rejection = problem === undefined ? ipPatchRejection(world, ip, `Pod ${nic.pod.key}`, false) : undefined;
  if (rejection?.inBackoff === true) return { kind: 'waiting', reason: 'IPRefused', message: rejection.message };
  const answer = world.reservations.get(claimantOfIp(ip));
  const failure =
    problem ?? (answer?.kind === 'failed' ? { reason: answer.code, message: answer.message } : excludedFromIp(world, nic, ip));
  if (failure === undefined) return PENDING;
  const message = failure.message.startsWith(`IP ${name}: `) ? failure.message : `IP ${name}: ${failure.message}`;
  return {
    kind: 'waiting',
    reason: failure.reason,
    message: `${message}; it is reserved for this pod: fix it, or ${commandText`kubectl delete ip ${name}`}`,
  };
}

function waiting(message: string): NameConflict {
  return { kind: 'waiting', reason: 'ReservedElsewhere', message };
}
