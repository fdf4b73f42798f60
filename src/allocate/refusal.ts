/** Why a request is refused, in the words of its answer. */
import type { Reason } from '../api/reasons.ts';
import type { AllocationFailure } from '../ipam/allocation.ts';
import type { AddressRequest, Reservation } from '../world/reservations.ts';
import type { AllocationTarget } from './ledger-request.ts';

/** Why a target gives nothing: the ledger's word, or that of who may have addresses there. */
export type Failure = Omit<AllocationFailure, 'code'> & { readonly code: Reason };

/** Nodes reach the network by the addresses of the join Subnet, and are reached by them: nobody else is given one, whatever it was told before. */
export function forNodes(join: string, { subnet }: AllocationTarget, { ofNode }: AddressRequest): Failure | undefined {
  if (ofNode === true || subnet !== join) return undefined;
  return {
    ok: false,
    code: 'NodesOnly',
    subject: 'subnet',
    message: `Subnet "${subnet}" joins nodes to the network and gives addresses to nodes alone`,
    holders: [],
  };
}

export function unreadable(message: string): AllocationFailure {
  return { ok: false, code: 'AddressOutOfRange', subject: 'subnet', message, holders: [] };
}

export function refusedWith({ claimant }: AddressRequest, refusals: readonly Failure[]): Reservation {
  const [first] = refusals;
  if (first === undefined) return { kind: 'refused', claimant, code: 'NoSubnet', message: 'no Subnet to take an address from' };
  const late = refusals.some((refusal) => refusal.late === true);
  return { kind: 'refused', claimant, code: first.code, message: said(refusals), ...(late && { late }) };
}

/** The first few of them, as one text. */
export function said(refusals: readonly { readonly message: string }[]): string {
  return refusals
    .map(({ message }) => withoutIncarnations(message))
    .slice(0, 5)
    .join('; ');
}

/** A message to people names ports, not the pod uids behind them. */
function withoutIncarnations(text: string): string {
  return text.replaceAll(/#[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '');
}
