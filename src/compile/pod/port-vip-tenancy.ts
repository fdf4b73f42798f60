/**
 * Of the addresses that a pod lists in annotation `port_vips`, those that its port may send from where the setting `tenancy` is `namespaced`:
 * addresses of its Subnet that nobody else has.
 */
import { portVipsIn } from '../../api/pod-port-validation.ts';
import type { Address } from '../../net/address.ts';
import { canonicalAddress, formatAddress, parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import { ofFamily, splitList } from '../../net/dual.ts';
import type { World } from '../../world/world.ts';
import { admitsPod, allowedPairsOf, vipView } from '../address-object/vip-view.ts';
import { subnetView } from '../subnet/subnet-view.ts';
import { addressHolder, isOfOtherPrograms } from './address-holder.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf } from './pod-interface.ts';
import { bearerOf } from './pod-view.ts';
import { isThere } from './port-before.ts';

/** Of the addresses that a pod lists for its port, those that it may send from. */
export function listedVips(world: World, nic: PodInterface, subnet: string): readonly string[] {
  const listed = portVipsIn(annotationOf(nic, 'port_vips'));
  if (listed.length === 0 || world.settings.tenancy === 'open') return listed;
  const before = vipsBefore(world, nic);
  return listed.filter((item) => {
    const why = vipProblem(world, nic, subnet, item);
    return why === undefined || (!why.isOthers && before.has(item));
  });
}

export interface VipProblem {
  readonly problem: string;
  readonly rule: string;
  /** It is somebody's: it is no port's beside that one's, also where it was. */
  readonly isOthers: boolean;
}

/** Why a port may not send from an address that its pod lists; undefined where it may. */
export function vipProblem(world: World, nic: PodInterface, subnet: string, item: string): VipProblem | undefined {
  const problem = (text: string, rule: string, isOthers = false): VipProblem => ({ problem: text, rule, isOthers });
  const address = singleAddress(item);
  if (address === undefined) return problem('is a network', 'list addresses one by one');
  const view = world.ask(subnetView, subnet);
  if (view === undefined) return problem(`is of Subnet ${subnet}, which does not exist`, 'list addresses of the Subnet');
  const text = formatAddress(address);
  const network = ofFamily(view, address.family);
  const cidr = parseCidr(network?.cidr ?? '');
  if (cidr === undefined || !cidrContains(cidr, address))
    return problem(`is outside of Subnet ${subnet}`, `list addresses of ${view.cidr}`);
  if (canonicalAddress(network?.gateway ?? '') === text) return problem(`is the gateway of Subnet ${subnet}`, 'list another address', true);
  const holder = world.ask(addressHolder, `${subnet} ${text}`).find((one) => !isOwn(world, nic, subnet, one));
  if (holder !== undefined)
    return problem(
      `is held by another`,
      `list an address that nobody has; a Vip of spec.namespace ${nic.pod.namespace} that the pod names in annotation ovn.kubernetes.io/aaps is shared`,
      true,
    );
  if (isOfOtherPrograms(world, subnet, address))
    return problem('is that of a port of another program in the switch', 'list an address that nobody has', true);
  return undefined;
}

/** The pod has it itself, or shares it with others by a Vip. */
function isOwn(
  world: World,
  { pod }: PodInterface,
  subnet: string,
  { kind, name }: { readonly kind: string; readonly name: string },
): boolean {
  if (kind === 'pod') return name === `${pod.namespace}/${bearerOf(pod)}`;
  const vip = kind === 'Vip' && allowedPairsOf(pod.annotations).includes(name) ? world.ask(vipView, name) : undefined;
  return vip?.subnet === subnet && admitsPod(vip, pod);
}

/** An address, or a network of one. */
function singleAddress(item: string): Address | undefined {
  const [text = '', prefix] = item.split('/');
  const address = parseAddress(text);
  if (address === undefined || prefix === undefined) return address;
  return Number(prefix) === (address.family === 4 ? 32 : 128) ? address : undefined;
}

/** Further addresses that the port has now. */
function vipsBefore(world: World, nic: PodInterface): ReadonlySet<string> {
  const ids = isThere(world, nic.row, nic) ? world.rows.column(nic.row, 'external_ids') : undefined;
  return new Set(ids instanceof Map ? splitList(String(ids.get('vips') ?? '')) : []);
}
