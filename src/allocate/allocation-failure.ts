/** Allocation failures: reason and message. */
import type { Reason } from '../api/reasons.ts';
import type { AllocationFailure } from '../ipam/allocation.ts';
import type { AddressRequest, Reservation } from '../world/reservations.ts';
import type { AllocationTarget } from './ledger-request.ts';

/** Why a target has no address for a request: a failure of the ledger, or a rule about the Subnet. */
export type Failure = Omit<AllocationFailure, 'code'> & { readonly code: Reason };

/** Nodes reach the network, and are reached, by addresses of the join Subnet: no other object gets one, whatever its annotations are. */
export function nodesOnly(join: string, { subnet }: AllocationTarget, { ofNode }: AddressRequest): Failure | undefined {
  if (ofNode === true || subnet !== join) return undefined;
  return {
    ok: false,
    code: 'NodesOnly',
    subject: 'subnet',
    message: `Subnet "${subnet}" is the join Subnet, which has addresses for nodes only`,
    holders: [],
  };
}

export function unreadableAddress(message: string): AllocationFailure {
  return { ok: false, code: 'AddressOutOfRange', subject: 'subnet', message, holders: [] };
}

export function failedReservation({ claimant }: AddressRequest, failures: readonly Failure[]): Reservation {
  const [first] = failures;
  if (first === undefined) return { kind: 'failed', claimant, code: 'NoSubnet', message: 'there is no Subnet to allocate from' };
  return { kind: 'failed', claimant, code: first.code, message: failureText(failures) };
}

/** The first few failures as one text. */
export function failureText(failures: readonly { readonly message: string }[]): string {
  return failures
    .map(({ message }) => withoutIncarnations(message))
    .slice(0, 5)
    .join('; ');
}

/** Messages name ports without the pod uids of their claimants. */
function withoutIncarnations(text: string): string {
  return text.replaceAll(/#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '');
}
