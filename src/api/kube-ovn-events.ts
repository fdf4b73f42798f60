/**
 * Reasons of Events that Kube-OVN has for a situation too. Alerts and tools wait for reason and source, so Kiln's Events of these reasons
 * name Kube-OVN's controller as their source; `reportingInstance` names Kiln's process. Kiln's finer reason is in the condition, and at the
 * head of the message.
 */
import type { Reason } from './reasons.ts';
import { KUBE_OVN_LEASE } from './well-known.ts';

/** `source.component` of these Events. */
export const KUBE_OVN_COMPONENT = KUBE_OVN_LEASE;

export const KUBE_OVN_EVENTS: readonly Reason[] = [
  'PodNetworkAllocated',
  'PodNetworkUpdated',
  'PodNetworkReleased',
  'PodNetworkAllocationFailed',
  'AcquireAddressFailed',
  'ValidatePodNetworkFailed',
  'CreateOVNPortFailed',
  'ValidateLogicalSwitchFailed',
  'NoActiveGatewayFound',
  'SubnetGatewayTypeChanged',
  'SubnetGatewayNodeChanged',
  'NodeAddressConflictWithSubnet',
];

/** Kube-OVN's Event for what keeps a pod from its network, by the reason of its condition. */
export const POD_EVENTS: Readonly<Partial<Record<Reason, Reason>>> = {
  NoSubnet: 'AcquireAddressFailed',
  NoAvailableAddress: 'AcquireAddressFailed',
  AddressOutOfRange: 'AcquireAddressFailed',
  AddressConflict: 'AcquireAddressFailed',
  InvalidIPFamily: 'AcquireAddressFailed',
  ReservedElsewhere: 'AcquireAddressFailed',
  WaitingForVip: 'AcquireAddressFailed',
  InvalidAnnotation: 'ValidatePodNetworkFailed',
  RowConflict: 'CreateOVNPortFailed',
  WriteRefused: 'PodNetworkAllocationFailed',
};

/** @returns the source of an Event with this reason, if it is not Kiln's controller */
export function componentOf(reason: string): string | undefined {
  return KUBE_OVN_EVENTS.some((one) => one === reason) ? KUBE_OVN_COMPONENT : undefined;
}
