/**
 * The common rule of Vips and EIPs. The address is reserved, then written into the object together with the finalizer: from then on the
 * object holds it until the object is gone. The address never changes; a later spec that requests another one is reported.
 */
import type { Reason } from '../../api/reasons.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { kilnAnnotation, labelKey } from '../../api/well-known.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { joinDual } from '../../net/dual.ts';
import { parseMac } from '../../net/mac.ts';
import { ownerText } from '../../nb/ownership.ts';
import type { AddressObject, AddressTexts } from '../../world/address-objects.ts';
import { allocatedAddressesText } from '../../world/allocated-addresses.ts';
import { claimantOfObject, hasRouterMac, vipSharingGroup } from '../../world/address-objects.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import { DELETION_BLOCKED, deletionPatch } from '../deletion.ts';
import { blockersOf } from '../../blockers/blockers.ts';
import { retainedRows } from '../retained-row.ts';
import { sharedSubject } from '../shared-address.ts';
import { findingsText } from '../findings-text.ts';
import { LEASE_CONDITIONS, addressLease } from '../address-lease.ts';
import type { RowOwner, ConditionOutput, Json, Output, PatchOutput } from '../output.ts';
import { withNext } from '../next-command.ts';
import { rowConflictOf } from '../row-conflict.ts';
import { traitsOf } from '../../world/resources.ts';
import { reasonToWait, subnetReady } from '../subnet/validity/subnet-ready.ts';
import { owningSubnet } from '../subnet/validity/subnet-state.ts';
import { isWithin, subnetView } from '../subnet/validity/subnet-view.ts';
import { ineffectiveCondition } from '../ineffective-condition.ts';
import { writeRejection } from '../write-rejection.ts';
import { commandText, nameArgument } from '../../text/command-text.ts';

const ACCEPTED = 'Accepted';
const CONFLICT = 'AddressConflict';
/** The spec fields with which an object of each kind requests its addresses. */
const FIELDS = {
  vips: { subnet: 'subnet', v4: 'v4ip', v6: 'v6ip' },
  'ovn-eips': { subnet: 'externalSubnet', v4: 'v4Ip', v6: 'v6Ip' },
  'iptables-eips': { subnet: 'externalSubnet', v4: 'v4ip', v6: 'v6ip' },
} as const;

/** The differences of a kind. */
export interface AddressKind {
  /** Findings in the spec. */
  readonly findings: readonly Finding[];
  /** Why the object may not have the addresses that it requests. */
  readonly exclusion?: Problem | undefined;
  /** Addresses that are not chosen for it, though they are free. */
  readonly avoid?: readonly string[] | undefined;
  /** Whether the address is in use, so that no lease runs. */
  readonly used: boolean;
  readonly labels: (addresses: AddressTexts) => Readonly<Record<string, string | null>>;
  /** The spec fields with the addresses, in the kind's spelling. */
  readonly spec: (addresses: AddressTexts) => Readonly<Record<string, Json>>;
  readonly status: (addresses: AddressTexts) => Readonly<Record<string, Json>>;
  /** What makes another object with an address of the Subnet, once this one is deleted; a user does, if nothing else. */
  readonly replacedBy?: string | undefined;
  /** Ineffective fields of the spec. */
  readonly ineffective?: readonly Finding[];
  /** What Kiln does not implement of the object, and the consequence, as one sentence. */
  readonly unimplemented?: string;
  /** The rows of the object while it holds the addresses, also while its deletion is blocked. */
  readonly rows: (addresses: AddressTexts) => readonly Output[];
}

export function ownerOf({ kind, name, uid, created }: AddressObject): RowOwner {
  return { kind: kind.toLowerCase(), namespace: '', name, uid, created };
}

export function addressOutputs(world: World, object: AddressObject, kind: AddressKind): readonly Output[] {
  const { resource, name, held } = object;
  if (object.terminating) {
    const rows = held !== undefined && blockersOf(world, resource, name).count > 0 ? rowsOf(world, object, kind, held) : [];
    const deletion = deletionPatch(world, resource, name, ownerOf(object), true);
    const conflict = conflictOf(world, object);
    return [
      {
        ...deletion,
        conditions: [...(deletion.conditions ?? []), ...(conflict === undefined ? [] : [conflict])],
        withoutConditions: [...(deletion.withoutConditions ?? []), CONFLICT],
      },
      ...rows,
    ];
  }
  const problem = held === undefined ? requestProblem(world, object, kind) : undefined;
  if (problem !== undefined) return [notAccepted(object, kind, problem)];
  const asked = addressRequestOf(object);
  const avoid = held === undefined ? (kind.avoid ?? []) : [];
  const request = avoid.length === 0 ? asked : { ...asked, avoid };
  const reservation = world.reservations.get(request.claimant);
  if (held === undefined && reservation?.kind !== 'granted') {
    if (reservation === undefined) return [{ kind: 'address-request', request }];
    return [
      { kind: 'address-request', request },
      notAccepted(object, kind, { reason: reservation.code, message: objectAddressMessage(object, reservation.message) }),
    ];
  }
  const addresses = reservation?.kind === 'granted' ? { v4: reservation.v4, v6: reservation.v6, mac: reservation.mac } : held;
  if (addresses === undefined) return [{ kind: 'address-request', request }];
  const lease = addressLease(world, { ...object, address: joinDual(addresses), used: kind.used });
  if (lease.kind === 'expired') return [{ kind: 'address-request', request }, lease.deletion];
  const immutable = immutableFieldCondition(object);
  const conditions = [
    immutable ?? outOfRangeCondition(world, object, kind) ?? lostSubnetCondition(world, object) ?? rowConflictCondition(world, object),
    unimplementedCondition(object, kind),
    conflictOf(world, object),
    lease.kind === 'reported' ? lease.condition : undefined,
  ].filter((one) => one !== undefined);
  // Only an OvnEip can become ready again.
  const notReady = resource === 'ovn-eips' && kind.unimplemented === undefined ? (['Ready'] as const) : [];
  const ineffectiveReport = ineffectiveCondition(kind.ineffective ?? [], commandText`kubectl edit ${editable(object)}`);
  const durable: PatchOutput = {
    ...patchOf(object),
    finalizer: true,
    labels: { [labelKey.subnet]: object.subnet, ...kind.labels(addresses) },
    annotations: {
      [kilnAnnotation.given]: allocatedAddressesText(object.uid, { ...addresses, subnet: object.subnet, type: typeOf(object) }),
    },
    ...(immutable === undefined && { spec: kind.spec(addresses) }),
  };
  // With a status subresource the status is a write of its own, which may succeed while the object's write is rejected. So it comes second:
  // the status never has an address that the object does not hold.
  if (held === undefined && traitsOf(resource).statusSubresource) return [{ kind: 'address-request', request }, durable];
  const patch: PatchOutput = {
    ...durable,
    status: kind.status(addresses),
    conditions: [...conditions, ...(ineffectiveReport.conditions ?? [])],
    withoutConditions: [
      DELETION_BLOCKED,
      CONFLICT,
      ACCEPTED,
      ...notReady,
      ...LEASE_CONDITIONS,
      ...(ineffectiveReport.withoutConditions ?? []),
    ],
  };
  if (held === undefined) return [{ kind: 'address-request', request }, patch];
  // If another claimant of the address has precedence, the existing ports of this object stay and no others are created.
  const rows =
    reservation?.kind === 'granted' ? rowsOf(world, object, kind, addresses) : existingPorts(world, object, kind.rows(addresses));
  return [{ kind: 'address-request', request }, patch, ...rows];
}

/** The rows of the object. While no Subnet owns the network that they are in, the existing ports stay and no others are created. */
function rowsOf(world: World, object: AddressObject, kind: AddressKind, held: AddressTexts): readonly Output[] {
  const rows = kind.rows(held);
  return owningSubnet(world, object.subnet) === undefined ? existingPorts(world, object, rows) : rows;
}

/**
 * The existing ports of the object, as they are where the object has no such port now; a recreated object owns those of the object before.
 */
function existingPorts(world: World, object: AddressObject, rows: readonly Output[]): readonly Output[] {
  const owner = ownerOf(object);
  const emitted = rows.filter((row) => row.kind === 'row');
  return retainedRows(world, ownerText(owner)).map((row) => emitted.find(({ id }) => id === row.id) ?? { ...row, owner });
}

interface Problem {
  readonly reason: Reason;
  readonly message: string;
  /** It ends with a write that Kiln is about to make, and needs no Event. */
  readonly inProgress?: true;
}

/** Why the object cannot request an address yet. */
function requestProblem(world: World, object: AddressObject, { findings, exclusion }: AddressKind): Problem | undefined {
  const { resource, kind, name, uid, subnet } = object;
  const [finding] = findings;
  if (finding !== undefined) return { reason: finding.code, message: findingsText(findings) };
  if (exclusion !== undefined) return { ...exclusion, message: objectAddressMessage(object, exclusion.message) };
  if (world.ask(subnetView, subnet) === undefined)
    return { reason: 'WaitingForSubnet', message: objectSubnetMessage(object, `Subnet "${subnet}" does not exist; kubectl get subnet`) };
  const readiness = world.ask(subnetReady, subnet);
  if (!readiness.ready)
    return {
      reason: reasonToWait(readiness),
      ...(readiness.inProgress === true && { inProgress: true }),
      message: withNext(objectSubnetMessage(object, readiness.message), commandText`kubectl describe subnet ${subnet}`),
    };
  const rejection = writeRejection(world, resource, name, 'object', uid);
  if (rejection?.inBackoff !== true) return undefined;
  return { reason: 'WriteRefused', message: `${kind} ${name} cannot get its address, ${rejection.cause}; ${rejection.next}` };
}

/** The message of the object for a sentence about its Subnet. */
export function objectSubnetMessage({ resource, kind, name, requestedSubnet }: AddressObject, sentence: string): string {
  const field = requestedSubnet === '' ? '' : `spec.${FIELDS[resource].subnet} "${requestedSubnet}": `;
  return `${kind} ${name}: ${field}${sentence}`;
}

/** The message of the object for a sentence about its requested addresses. */
export function objectAddressMessage(object: AddressObject, sentence: string): string {
  const { resource, kind, name, requested } = object;
  const { v4, v6 } = FIELDS[resource];
  const requestedFields = { [v4]: requested.v4, [v6]: requested.v6, macAddress: hasOwnMac(object) ? requested.mac : '' };
  const fields = Object.entries(requestedFields).flatMap(([field, value]) => (value === '' ? [] : [`spec.${field} "${value}"`]));
  return `${kind} ${name}: ${fields.length === 0 ? '' : `${fields.join(', ')}: `}${sentence}`;
}

/** Requests exactly what the object holds, else what its spec names. A pod that uses a Vip's address shares it with the Vip. */
export function addressRequestOf(object: AddressObject): AddressRequest {
  const { resource, kind, name, subnet, created, requested, held } = object;
  const { v4, v6, mac: macText } = held ?? requested;
  const mac = parseMac(macText);
  return {
    claimant: claimantOfObject(kind, name),
    subnets: [subnet],
    families: familiesOf(object),
    ...(v4 !== '' && { v4 }),
    ...(v6 !== '' && { v6 }),
    ...(hasOwnMac(object) ? mac !== undefined && { mac } : { withoutMac: true }),
    ...(resource === 'vips' && { sharingGroup: vipSharingGroup(name) }),
    since: created,
  };
}

/** NAT gateways translate IPv4 only. */
function familiesOf({ resource, held }: AddressObject): AddressRequest['families'] {
  if (held === undefined) return resource === 'iptables-eips' ? 'v4' : 'subnet';
  return held.v6 === '' ? 'v4' : held.v4 === '' ? 'v6' : 'dual';
}

function hasOwnMac(object: AddressObject): boolean {
  return !hasRouterMac(typeOf(object));
}

function typeOf({ type, typeInEffect }: AddressObject): string {
  return typeInEffect ?? type;
}

/** How the spec differs from what the object holds, as a sentence; undefined if it does not differ. */
export function changeProblem(object: AddressObject): string | undefined {
  const { kind, name, subnet, requestedSubnet, type, typeInEffect, requested, held } = object;
  if (held === undefined) return undefined;
  const isDifferent = (text: string, has: string): boolean => text !== '' && canonical(text) !== has;
  const found: readonly (readonly [string, string])[] = [
    ...(requestedSubnet !== '' && requestedSubnet !== subnet ? [[requestedSubnet, subnet] as const] : []),
    ...(isDifferent(requested.v4, held.v4) ? [[requested.v4, held.v4] as const] : []),
    ...(isDifferent(requested.v6, held.v6) ? [[requested.v6, held.v6] as const] : []),
    ...(hasOwnMac(object) && held.mac !== '' && isDifferent(requested.mac, held.mac) ? [[requested.mac, held.mac] as const] : []),
    ...(typeInEffect !== undefined && typeInEffect !== type ? [[type, typeInEffect] as const] : []),
  ];
  if (found.length === 0) return undefined;
  const what = found.map(([requestedValue, has]) => `"${requestedValue}" (it has ${has === '' ? 'none' : has})`).join(', ');
  return `${kind} ${name}: spec requests ${what}; Subnet, addresses, MAC and type are immutable once they are allocated; restore the present values, or create another ${kind}; ${commandText`kubectl edit ${editable(object)}`}`;
}

function immutableFieldCondition(object: AddressObject): ConditionOutput | undefined {
  const message = changeProblem(object);
  return message === undefined ? undefined : { type: ACCEPTED, status: 'False', reason: 'Immutable', message, event: 'Warning' };
}

/**
 * The condition if the Subnet was removed by force and recreated with another network: the object keeps its address, which is unreachable.
 */
function outOfRangeCondition(world: World, object: AddressObject, { replacedBy }: AddressKind): ConditionOutput | undefined {
  const { kind, name, subnet, held } = object;
  const network = networkWithout(world, object);
  if (held === undefined || network === '') return undefined;
  const command = commandText`kubectl delete ${editable(object)}`;
  const next = replacedBy === undefined ? `create another ${kind}, then ${command}` : `then ${replacedBy} makes another one; ${command}`;
  const message =
    `${kind} ${name}: address ${joinDual(held)} is outside of ${network}, the network that Subnet ${subnet} has now; the ${kind} keeps ` +
    `the address until it is deleted; ${next}`;
  return { type: ACCEPTED, status: 'False', reason: 'AddressOutOfRange', message, event: 'Warning' };
}

/** The condition of an OvnEip whose Subnet was removed by force: it keeps its address, and what uses it stays as it is. */
function lostSubnetCondition(world: World, object: AddressObject): ConditionOutput | undefined {
  const { resource, kind, name, subnet, held } = object;
  if (resource !== 'ovn-eips' || held === undefined || world.ask(subnetView, subnet) !== undefined) return undefined;
  const message = `${kind} ${name}: Subnet ${subnet} does not exist any more; the ${kind} keeps address ${joinDual(held)}, and what uses it stays as it is: create the Subnet again with the network that it had; ${commandText`kubectl get subnet ${subnet}`}`;
  return { type: ACCEPTED, status: 'False', reason: 'WaitingForSubnet', message, event: 'Warning' };
}

/** The networks of the Subnet, if the object's address is outside of them; empty if it is inside, or none is in effect. */
export function networkWithout(world: World, { held, subnet }: AddressObject): string {
  const view = held === undefined ? undefined : world.ask(subnetView, subnet);
  return held === undefined || view === undefined || isWithin(view, held) ? '' : view.cidr;
}

/**
 * The condition if another object owns a row that this one needs, such as the port of a pod with its name: it has its address and no port.
 */
function rowConflictCondition(world: World, object: AddressObject): ConditionOutput | undefined {
  const conflict = rowConflictOf(world, ownerOf(object));
  if (conflict === undefined) return undefined;
  const message = `${object.kind} ${object.name} has its address, but not its port: ${conflict}`;
  return { type: ACCEPTED, status: 'False', reason: 'RowConflict', message, event: 'Warning' };
}

function unimplementedCondition({ kind, name }: AddressObject, { unimplemented: what }: AddressKind): ConditionOutput | undefined {
  if (what === undefined) return undefined;
  const message = `${kind} ${name}: ${what}`;
  return { type: 'Ready', status: 'False', reason: 'NotCarriedOut', message, event: 'Warning' };
}

function canonical(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? (parseMac(text) ?? text) : formatAddress(address);
}

function conflictOf(world: World, object: AddressObject): ConditionOutput | undefined {
  const others = world.addressConflicts.get(claimantOfObject(object.kind, object.name)) ?? [];
  if (others.length === 0) return undefined;
  const has = object.held ?? object.requested;
  const message =
    `${object.kind} ${object.name}: ${sharedSubject(joinDual(has), has.mac, others)} of Subnet ${object.subnet} is also held by ` +
    `${others.join(', ')}; delete the one that should not have it; ${commandText`kubectl describe ${editable(object)}`}`;
  return { type: CONFLICT, status: 'True', reason: 'HeldTwice', message, event: 'Warning' };
}

function notAccepted(object: AddressObject, kind: AddressKind, { reason, message, inProgress }: Problem): PatchOutput {
  const missing = unimplementedCondition(object, kind);
  const next = withNext(message, commandText`kubectl edit ${editable(object)}`);
  const accepted: ConditionOutput = {
    ...{ type: ACCEPTED, status: 'False', reason, message: next },
    ...(inProgress !== true && { event: 'Warning' }),
  };
  return { ...patchOf(object), conditions: [accepted, ...(missing === undefined ? [] : [missing])] };
}

/** The object as unambiguous kubectl arguments. */
function editable({ resource, name }: AddressObject): readonly string[] {
  const { group, plural } = traitsOf(resource);
  return [`${plural}.${group}`, nameArgument(name)];
}

export function patchOf({ resource, name, uid }: AddressObject): Pick<PatchOutput, 'kind' | 'resource' | 'key' | 'uid'> {
  return { kind: 'patch', resource, key: name, uid };
}
