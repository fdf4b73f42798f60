/** Why a request is refused, in the words of its answer. */
import type { Reason } from '../api/reasons.ts';
import type { AllocationFailure } from '../ipam/allocation.ts';
import type { AddressRequest, Reservation } from '../world/reservations.ts';
import type { AllocationTarget } from './ledger-request.ts';

/** Why a target gives nothing: the ledger's word, or that of who may have addresses there. */
export type Failure = Omit<AllocationFailure, 'code'> & { readonly code: Reason };

/** Nodes reach the network by the addresses of the join Subnet, and are reached by them: nobody else is given one, whatever it was told before. */
export function nodesOnly(join: string, { subnet }: AllocationTarget, { ofNode }: AddressRequest): Failure | undefined {
  if (ofNode === true || subnet !== join) return undefined;
  return {
    ok: false,
    code: 'NodesOnly',
    subject: 'subnet',
    message: `Subnet "${subnet}" joins nodes to the network and gives addresses to nodes alone`,
    holders: [],
  };
}

export function unreadableAddress(message: string): AllocationFailure {
  return { ok: false, code: 'AddressOutOfRange', subject: 'subnet', message, holders: [] };
}

export function failedReservation({ claimant }: AddressRequest, failures: readonly Failure[]): Reservation {
  const [first] = failures;
  if (first === undefined) return { kind: 'failed', claimant, code: 'NoSubnet', message: 'no Subnet to take an address from' };
  const partlyFree = failures.some((refusal) => refusal.partlyFree === true);
  return { kind: 'failed', claimant, code: first.code, message: failureText(failures), ...(partlyFree && { partlyFree }) };
}

/** The first few of them, as one text. */
export function failureText(failures: readonly { readonly message: string }[]): string {
  return failures
    .map(({ message }) => withoutIncarnations(message))
    .slice(0, 5)
    .join('; ');
}

/** A message to people names ports, not the pod uids behind them. */
function withoutIncarnations(text: string): string {
  return text.replaceAll(/#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '');
}
