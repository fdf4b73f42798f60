/**
 * What proves that an interface of a pod is bound. A user of the namespace writes the pod's annotations, so that `allocated` is a claim
 * there. Only Kiln and administrators write port rows and IP objects: a row that is marked as this pod's, or an IP object that carries its
 * uid, is the proof. What Kube-OVN left has no uid: there the IP object of the pod and the port row of its name prove it together, where
 * both say the same addresses. The IP object holds them meanwhile, so that nobody else was given them.
 */
import type { IP } from '../api/ip.ts';
import { portName } from '../api/names.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import { cidrContains, parseCidr } from '../net/cidr.ts';
import { splitList } from '../net/dual.ts';
import { parseMac } from '../net/mac.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import type { ObservedRow } from './observed-rows.ts';
import { heldTexts, onlyAsks } from './claimants.ts';
import { subnetIntent } from './intent.ts';
import type { World } from './world.ts';

/** As much of a pod as its proofs name. */
export interface Provable {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The virtual machine that it runs, whose name its interfaces bear. */
  readonly machine: string | undefined;
}

/** Addresses of one proof: text in canonical form. */
export interface Proven {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

/**
 * What an interface is proven to have; two that differ where somebody edited the IP object or the row, none where nothing proves it.
 * @param said what the pod's annotations say: an IP object that says something else, and that no Subnet has, was edited and proves nothing
 */
export function proofsOf(world: World, pod: Provable, provider: string, said: Proven | undefined): readonly Proven[] {
  const bearer = pod.machine ?? pod.name;
  const port = portName(bearer, pod.namespace, provider);
  const id = rowId('Logical_Switch_Port', port);
  const row = world.rows.state(id);
  const ip = world.ips.get(port);
  const ofIp = ip === undefined || !isForBearer(ip, pod.namespace, bearer) ? undefined : provenByIp(ip);
  const ofRow = row === undefined || row.ownership.kind === 'foreign' ? undefined : provenByRow(world, id);
  const proofs: Proven[] = [];
  if (
    ip !== undefined &&
    ofIp !== undefined &&
    carriesUid(ip, pod) &&
    (said === undefined || covers(ofIp, said) || isOfItsSubnet(world, ofIp))
  )
    proofs.push(ofIp);
  if (row !== undefined && ofRow !== undefined && isRowOf(world, row, pod)) proofs.push(ofRow);
  if (proofs.length > 0 || ofIp === undefined || ofRow === undefined || row?.ownership.kind !== 'legacy') return outsideJoin(world, proofs);
  const hasNoUid = ip?.metadata.annotations?.[kilnAnnotation.podUid] === undefined;
  return hasNoUid && externalId(world, id, 'pod') === `${pod.namespace}/${bearer}` && saysSame(ofIp, ofRow)
    ? outsideJoin(world, [ofIp])
    : [];
}

/** Whether a proof covers what is said; of a MAC that is not said, any. */
export function covers(proof: Proven, said: Proven | undefined): boolean {
  return said !== undefined && saysSame(said.mac === '' ? { ...proof, mac: '' } : proof, said);
}

function saysSame(a: Proven, b: Proven): boolean {
  return a.subnet === b.subnet && a.mac === b.mac && a.addresses.join() === b.addresses.join();
}

/** In canonical form. @param texts as they are written anywhere */
export function provenOf(subnet: string, texts: readonly string[], mac: string): Proven | undefined {
  const addresses = texts.flatMap((text) => parseAddress(text.trim()) ?? []).map(formatAddress);
  return subnet === '' || addresses.length === 0 ? undefined : { subnet, addresses: addresses.toSorted(), mac: parseMac(mac) ?? '' };
}

/** Addresses of the join Subnet are nodes' alone: no row and no object proves one of them to be a pod's. */
function outsideJoin(world: World, proofs: readonly Proven[]): readonly Proven[] {
  return proofs.filter(({ subnet }) => subnet !== world.settings.joinSubnet);
}

function isForBearer({ spec }: IP, namespace: string, bearer: string): boolean {
  return spec.namespace === namespace && spec.podName === bearer;
}

function provenByIp(ip: IP): Proven | undefined {
  return onlyAsks(ip) ? undefined : provenOf(ip.spec.subnet ?? '', heldTexts(ip), ip.spec.macAddress ?? '');
}

/** The pod's own. The IP object of a virtual machine outlives its pods, and is that of each of them. */
function carriesUid({ metadata, spec }: IP, { uid, machine }: Provable): boolean {
  const carried = metadata.annotations?.[kilnAnnotation.podUid] ?? '';
  return carried !== '' && (carried === uid || (machine !== undefined && spec.podType === 'VirtualMachine'));
}

/** The pod's own, or that of a pod which runs the same virtual machine. */
function isRowOf(world: World, { ownership }: ObservedRow, { namespace, name, uid, machine }: Provable): boolean {
  if (ownership.kind !== 'ours') return false;
  if (ownership.owner === `pod/${namespace}/${name}` && ownership.uid === uid) return true;
  if (machine === undefined) return false;
  const launchers = world.pods.bucket('instance', `${namespace}/${machine}`);
  return [...launchers].some((key) => ownership.owner === `pod/${key}` && world.pods.get(key)?.metadata.uid === ownership.uid);
}

/** By the spec of a Subnet that is there. */
function isOfItsSubnet(world: World, { subnet, addresses }: Proven): boolean {
  const cidrs = splitList(world.ask(subnetIntent, subnet)?.spec.cidrBlock ?? '').flatMap((text) => parseCidr(text) ?? []);
  return addresses.every((text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
  });
}

function provenByRow(world: World, id: RowId): Proven | undefined {
  const stations = world.rows.column(id, 'addresses');
  const subnet = externalId(world, id, 'ls');
  if (!(stations instanceof Set) || subnet === undefined) return undefined;
  const station = [...stations].map(String).find((text) => text.includes(' '));
  const [mac = '', ...addresses] = (station ?? '').split(' ');
  return provenOf(subnet, addresses, mac);
}

function externalId(world: World, id: RowId, key: string): string | undefined {
  const externalIds = world.rows.column(id, 'external_ids');
  const value: unknown = externalIds instanceof Map ? externalIds.get(key) : undefined;
  return typeof value === 'string' ? value : undefined;
}
