/**
 * IP objects as they are made and kept: Kube-OVN's fields, labels and finalizer, for a pod's interface, a node, a reservation.
 */
import { API_VERSION } from '../../api/schema/kind.ts';
import type { IP } from '../../api/kinds/ip.ts';
import { FINALIZER, labelKey } from '../../api/well-known.ts';
import { isLabelValue } from '../../api/values/label-value.ts';
import { joinDual } from '../../net/dual.ts';
import type { Reservation } from '../../world/reservations.ts';
import type { CreateOutput, Json, PatchOutput } from '../output.ts';

/** Addresses of one interface in one Subnet, as text; empty where there is none. */
export interface Addresses {
  readonly subnet: string;
  readonly v4: string;
  readonly v6: string;
  readonly mac: string;
}

export interface IpIdentity {
  readonly name: string;
  readonly podName: string;
  /** Empty for a node. */
  readonly namespace: string;
  readonly podType: '' | 'StatefulSet' | 'VirtualMachine';
  /** Empty for a pod that is not scheduled. */
  readonly node: string;
  /** Kiln's annotations. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Only of a node. */
  readonly ownerReferences?: readonly { readonly [key: string]: Json }[];
}

export function addressesOf(reservation: Reservation | undefined): Addresses | undefined {
  if (reservation?.kind !== 'granted') return undefined;
  const { subnet, v4, v6, mac } = reservation;
  return { subnet, v4, v6, mac };
}

export function addressesOfIp({ spec }: IP): Addresses | undefined {
  const { subnet = '', v4IpAddress = '', v6IpAddress = '', macAddress = '' } = spec;
  return subnet === '' || (v4IpAddress === '' && v6IpAddress === '')
    ? undefined
    : { subnet, v4: v4IpAddress, v6: v6IpAddress, mac: macAddress };
}

export function sameAddresses(a: Addresses | undefined, b: Addresses | undefined): boolean {
  return a !== undefined && b !== undefined && a.subnet === b.subnet && a.v4 === b.v4 && a.v6 === b.v6 && a.mac === b.mac;
}

/** `<v4>`, `<v6>` or `<v4>,<v6>` */
export function ipText({ v4, v6 }: Addresses): string {
  return joinDual({ v4, v6 });
}

export function createIp(identity: IpIdentity, addresses: Addresses): CreateOutput {
  const { name, podName, namespace, podType, node, annotations, ownerReferences } = identity;
  return {
    kind: 'create',
    resource: 'ips',
    key: name,
    object: {
      apiVersion: API_VERSION,
      kind: 'IP',
      metadata: {
        name,
        labels: { ...ipLabels(addresses.subnet, node), [labelKey.ipReserved]: 'false' },
        ...(Object.keys(annotations).length > 0 && { annotations }),
        finalizers: [FINALIZER],
        ...(ownerReferences !== undefined && { ownerReferences }),
      },
      spec: {
        podName,
        namespace,
        ...ipSpec(addresses),
        nodeName: node,
        attachIps: [],
        attachMacs: [],
        attachSubnets: [],
        containerID: '',
        podType,
      },
    },
  };
}

/** What an IP object that is there should say; the label that reserves it is its user's. */
export function keepIp(ip: IP, identity: IpIdentity, addresses: Addresses): PatchOutput {
  const { node, podType, annotations } = identity;
  return {
    kind: 'patch',
    resource: 'ips',
    key: ip.metadata.name,
    uid: ip.metadata.uid,
    annotations,
    labels: { [labelKey.nodeName]: null, ...ipLabels(addresses.subnet, node) },
    spec: { ...ipSpec(addresses), nodeName: node, ...(podType !== '' && { podType }) },
  };
}

export function ipSpec(addresses: Addresses): Readonly<Record<string, string>> {
  const { subnet, v4, v6, mac } = addresses;
  return { subnet, ipAddress: ipText(addresses), v4IpAddress: v4, v6IpAddress: v6, macAddress: mac };
}

/**
 * Kube-OVN finds the IP objects of a Subnet by a label of the Subnet's own name, too. A node that no label can name has none: the name
 * of a node may have 253 characters, and what a pod's `spec.nodeName` says is checked by no API server.
 */
export function ipLabels(subnet: string, node: string): Readonly<Record<string, string>> {
  return { [labelKey.subnet]: subnet, ...(isLabelValue(node) && { [labelKey.nodeName]: node }), [subnet]: '' };
}
