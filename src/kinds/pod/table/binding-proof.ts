/**
 * What proves the addresses of a pod's interface. A tenant can write the pod's annotations, so `allocated` is only a claim. Only Kiln and
 * administrators write port rows and IP objects: a row with this pod as its row owner, or an IP object with its uid, is a proof. Objects
 * that Kube-OVN made have no uid: there the pod's IP object and the port row of its name are a proof together, if both have the same
 * addresses. The IP object holds these meanwhile, so the allocator gives them to no other claimant.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import { portName } from '../../../api/names.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import { formatAddress, parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { parseMac } from '../../../net/mac.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { ObservedRow } from '../../../world/observed-rows.ts';
import { heldTexts, onlyRequests } from '../../../world/claimants.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { World } from '../../../world/world.ts';

/** The fields of a pod that a proof names. */
export interface Provable {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The virtual machine that it runs: its interfaces have the machine's name. */
  readonly machine: string | undefined;
}

/** The addresses of one proof: text in canonical form. */
export interface Proven {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

/**
 * The proven addresses of an interface: none without a proof, two if IP object and row differ, since a user edited one of them.
 * @param claimed the addresses in the pod's annotations. An IP object with other addresses, outside of its Subnet, was edited and is no
 *   proof.
 */
export function proofsOf(world: World, pod: Provable, provider: string, claimed: Proven | undefined): readonly Proven[] {
  const podOrMachine = pod.machine ?? pod.name;
  const port = portName(podOrMachine, pod.namespace, provider);
  const id = rowId('Logical_Switch_Port', port);
  const row = world.rows.state(id);
  const ip = world.ips.get(port);
  const ofIp = ip === undefined || !isForPodOrMachine(ip, pod.namespace, podOrMachine) ? undefined : provenByIp(ip);
  const ofRow = row === undefined || row.ownership.kind === 'foreign' ? undefined : provenByRow(world, id);
  const proofs: Proven[] = [];
  if (
    ip !== undefined &&
    ofIp !== undefined &&
    carriesUid(ip, pod) &&
    (claimed === undefined || covers(ofIp, claimed) || isOfItsSubnet(world, ofIp))
  )
    proofs.push(ofIp);
  if (row !== undefined && ofRow !== undefined && isRowOf(world, row, pod)) proofs.push(ofRow);
  if (proofs.length > 0 || ofIp === undefined || ofRow === undefined || row?.ownership.kind !== 'legacy') return outsideJoin(world, proofs);
  const hasNoUid = ip?.metadata.annotations?.[kilnAnnotation.podUid] === undefined;
  return hasNoUid && externalId(world, id, 'pod') === `${pod.namespace}/${podOrMachine}` && isSameProof(ofIp, ofRow)
    ? outsideJoin(world, [ofIp])
    : [];
}

/** Whether a proof confirms what annotations claim. Without a MAC there, any MAC is right. */
export function covers(proof: Proven, claimed: Proven | undefined): boolean {
  return claimed !== undefined && isSameProof(claimed.mac === '' ? { ...proof, mac: '' } : proof, claimed);
}

function isSameProof(a: Proven, b: Proven): boolean {
  return a.subnet === b.subnet && a.mac === b.mac && a.addresses.join() === b.addresses.join();
}

/** Addresses in canonical form. @param texts in any form */
export function provenOf(subnet: string, texts: readonly string[], mac: string): Proven | undefined {
  const addresses = texts.flatMap((text) => parseAddress(text.trim()) ?? []).map(formatAddress);
  return subnet === '' || addresses.length === 0 ? undefined : { subnet, addresses: addresses.toSorted(), mac: parseMac(mac) ?? '' };
}

/** Only nodes have addresses of the join Subnet: no row and no object proves one of them for a pod. */
function outsideJoin(world: World, proofs: readonly Proven[]): readonly Proven[] {
  return proofs.filter(({ subnet }) => subnet !== world.settings.joinSubnet);
}

function isForPodOrMachine({ spec }: IP, namespace: string, podOrMachine: string): boolean {
  return spec.namespace === namespace && spec.podName === podOrMachine;
}

function provenByIp(ip: IP): Proven | undefined {
  return onlyRequests(ip) ? undefined : provenOf(ip.spec.subnet ?? '', heldTexts(ip), ip.spec.macAddress ?? '');
}

/** Whether the IP object is this pod's. The IP object of a virtual machine outlives its pods, and is that of each of them. */
function carriesUid({ metadata, spec }: IP, { uid, machine }: Provable): boolean {
  const carried = metadata.annotations?.[kilnAnnotation.podUid] ?? '';
  return carried !== '' && (carried === uid || (machine !== undefined && spec.podType === 'VirtualMachine'));
}

/** Whether the row's owner is this pod, or another pod of the same virtual machine. */
function isRowOf(world: World, { ownership }: ObservedRow, { namespace, name, uid, machine }: Provable): boolean {
  if (ownership.kind !== 'ours') return false;
  if (ownership.owner === `pod/${namespace}/${name}` && ownership.uid === uid) return true;
  if (machine === undefined) return false;
  const launchers = world.pods.bucket('instance', `${namespace}/${machine}`);
  return [...launchers].some((key) => ownership.owner === `pod/${key}` && world.pods.get(key)?.metadata.uid === ownership.uid);
}

/** Whether all addresses are in the CIDR of their Subnet. */
function isOfItsSubnet(world: World, { subnet, addresses }: Proven): boolean {
  const cidrs = splitList(world.ask(subnetIntent, subnet)?.spec.cidrBlock ?? '').flatMap((text) => parseCidr(text) ?? []);
  return addresses.every((text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
  });
}

function provenByRow(world: World, id: RowId): Proven | undefined {
  const portAddresses = world.rows.column(id, 'addresses');
  const subnet = externalId(world, id, 'ls');
  if (!(portAddresses instanceof Set) || subnet === undefined) return undefined;
  const portAddress = [...portAddresses].map(String).find((text) => text.includes(' '));
  const [mac = '', ...addresses] = (portAddress ?? '').split(' ');
  return provenOf(subnet, addresses, mac);
}

function externalId(world: World, id: RowId, key: string): string | undefined {
  const externalIds = world.rows.column(id, 'external_ids');
  const value: unknown = externalIds instanceof Map ? externalIds.get(key) : undefined;
  return typeof value === 'string' ? value : undefined;
}
