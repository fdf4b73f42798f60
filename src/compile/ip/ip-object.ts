/**
 * IP objects with Kube-OVN's fields, labels and finalizer, for the interface of a pod, a node or a reservation.
 */
import { API_VERSION } from '../../api/schema/kind.ts';
import type { IP } from '../../api/kinds/ip.ts';
import { FINALIZER, labelKey } from '../../api/well-known.ts';
import { isLabelValue } from '../../api/values/label-value.ts';
import { joinDual } from '../../net/dual.ts';
import { onlyRequests } from '../../world/claimants.ts';
import type { Reservation } from '../../world/reservations.ts';
import type { CreateOutput, Json, PatchOutput } from '../output.ts';

/** Addresses of one interface in one Subnet, as text; empty if absent. */
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
  /** Empty until the pod is scheduled. */
  readonly node: string;
  /** Kiln's annotations. */
  readonly annotations: Readonly<Record<string, string>>;
  /** For a node only. */
  readonly ownerReferences?: readonly { readonly [key: string]: Json }[];
}

export function addressesOf(reservation: Reservation | undefined): Addresses | undefined {
  if (reservation?.kind !== 'granted') return undefined;
  const { subnet, v4, v6, mac } = reservation;
  return { subnet, v4, v6, mac };
}

/** Undefined for one that has none yet. In a Subnet without a network the MAC is all that an interface has. */
export function addressesOfIp(ip: IP): Addresses | undefined {
  const { subnet = '', v4IpAddress: v4 = '', v6IpAddress: v6 = '', macAddress: mac = '' } = ip.spec;
  const has = (v4 === '' && v6 === '' ? mac !== '' && !onlyRequests(ip) : true) && subnet !== '';
  return has ? { subnet, v4, v6, mac } : undefined;
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

/** The patch for an existing IP object. The label that reserves it is the user's. */
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
 * Kube-OVN also finds the IP objects of a Subnet by a label with the Subnet's name. A node name that is no valid label value gets no label:
 * names of nodes may have 253 characters, and the API server does not validate `spec.nodeName` of a pod.
 */
export function ipLabels(subnet: string, node: string): Readonly<Record<string, string>> {
  return { [labelKey.subnet]: subnet, ...(isLabelValue(node) && { [labelKey.nodeName]: node }), [subnet]: '' };
}
