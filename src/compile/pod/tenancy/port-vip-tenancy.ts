/**
 * The addresses in annotation `port_vips` from which a port may send if the setting `tenancy` is `namespaced`: addresses of its Subnet that
 * no other object has.
 */
import type { PoolAddresses } from '../../../api/validation/pool-ranges.ts';
import { poolAddresses } from '../../../api/validation/pool-ranges.ts';
import { portVipsIn } from '../../../api/pod/pod-port-validation.ts';
import type { Address } from '../../../net/address.ts';
import { canonicalAddress, formatAddress, parseAddress } from '../../../net/address.ts';
import { cidrContains, isUsable, parseCidr } from '../../../net/cidr.ts';
import { parseRange } from '../../../net/range.ts';
import { ofFamily, splitList } from '../../../net/dual.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { selectsPod, allowedPairsOf, vipView } from '../../vip-eip/vip-view.ts';
import { subnetSpec, subnetView } from '../../subnet/validity/subnet-view.ts';
import type { AddressHolder } from './address-holder.ts';
import { addressHolder, passiveHolder } from './address-holder.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf } from '../interface/pod-interface.ts';
import { podOrMachineName } from '../view/pod-view.ts';
import { isObservedAsPods } from '../interface/existing-port.ts';
import { excludingPoolOf } from './tenancy.ts';
import { commandText } from '../../../text/command-text.ts';

/** The listed addresses from which the port may send. */
export function allowedPortVips(world: World, nic: PodInterface, subnet: string): readonly string[] {
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
  /** Whether another object has it: then no other port may have it, also not one that had it before. */
  readonly isOthers: boolean;
}

/** Why a port may not send from a listed address; undefined if it may. */
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
  if (!isUsable(cidr, address))
    return problem(
      `is the network${address.family === 4 ? ' or the broadcast' : ''} address of Subnet ${subnet}`,
      'list addresses that a host can have',
      true,
    );
  const holders = world.ask(addressHolder, `${subnet} ${text}`);
  const holder = holders.find((one) => !isOwn(world, nic, subnet, one));
  if (holder !== undefined)
    return problem(
      `is held by another`,
      `list a free address; a Vip of spec.namespace ${nic.pod.namespace} that the pod names in annotation ovn.kubernetes.io/aaps is shared`,
      true,
    );
  const passive = passiveHolder(world, subnet, address);
  if (passive !== undefined) return problem(`is that of ${passive}`, 'list a free address', true);
  // Its own address, or that of a Vip that it shares: an administrator or the allocator decided so.
  return holders.length > 0 ? undefined : reservedForOthers(world, nic, subnet, address);
}

/** No object has it, and an administrator reserves it: for other namespaces or for none. */
function reservedForOthers(world: World, { pod }: PodInterface, subnet: string, address: Address): VipProblem | undefined {
  const text = formatAddress(address);
  const pool = excludingPoolOf(world, pod.namespace, subnet, address);
  if (pool !== undefined)
    return {
      problem: `is of IPPool ${pool}, whose spec.namespaces does not list Namespace ${pod.namespace}`,
      rule: `list another address, or have an administrator add it to spec.namespaces: ${commandText`kubectl edit ippool ${pool}`}`,
      isOthers: false,
    };
  if (!world.ask(excludedIn, subnet)[address.family].contains(address.value)) return undefined;
  return {
    problem: `is in spec.excludeIps of Subnet ${subnet}`,
    rule: `list another address, or have an administrator make a Vip of ${text} with spec.namespace ${pod.namespace} for annotation ovn.kubernetes.io/aaps`,
    isOthers: false,
  };
}

const excludedIn: Query<PoolAddresses> = defineQuery('subnet-excluded', (world, subnet) =>
  poolAddresses((world.ask(subnetSpec, subnet)?.excludeIps ?? []).filter((item) => parseRange(item) !== undefined)),
);

/**
 * Whether a listed address is not the pod's to use, also if `tenancy` is `open`: it is the gateway, another object or program has it, or an
 * IPPool has it for other namespaces. A Vip without a type reserves its address for pods of its namespace, or of all if it names none.
 */
export function isOfAnother(world: World, nic: PodInterface, subnet: string, address: Address): boolean {
  const text = formatAddress(address);
  const view = world.ask(subnetView, subnet);
  const gateway = view === undefined ? undefined : ofFamily(view, address.family)?.gateway;
  if (canonicalAddress(gateway ?? '') === text || passiveHolder(world, subnet, address) !== undefined) return true;
  const holders = world.ask(addressHolder, `${subnet} ${text}`);
  if (holders.length === 0) return excludingPoolOf(world, nic.pod.namespace, subnet, address) !== undefined;
  return holders.some((one) => !isOwn(world, nic, subnet, one) && !isReservedFor(world, nic.pod.namespace, one));
}

function isReservedFor(world: World, namespace: string, { kind, name }: AddressHolder): boolean {
  const vip = kind === 'Vip' ? world.ask(vipView, name) : undefined;
  return vip?.type === '' && (vip.namespace === '' || vip.namespace === namespace);
}

/** Whether the pod has it, or shares it by a Vip. */
function isOwn(world: World, { pod }: PodInterface, subnet: string, { kind, name }: AddressHolder): boolean {
  if (kind === 'pod') return name === `${pod.namespace}/${podOrMachineName(pod)}`;
  const vip = kind === 'Vip' && allowedPairsOf(pod.annotations).includes(name) ? world.ask(vipView, name) : undefined;
  return vip?.subnet === subnet && selectsPod(vip, pod);
}

/** An address, or a network of one. */
export function singleAddress(item: string): Address | undefined {
  const [text = '', prefix] = item.split('/');
  const address = parseAddress(text);
  if (address === undefined || prefix === undefined) return address;
  return Number(prefix) === (address.family === 4 ? 32 : 128) ? address : undefined;
}

/** The further addresses that the port has now. */
function vipsBefore(world: World, nic: PodInterface): ReadonlySet<string> {
  const ids = isObservedAsPods(world, nic.row, nic) ? world.rows.column(nic.row, 'external_ids') : undefined;
  return new Set(ids instanceof Map ? splitList(String(ids.get('vips') ?? '')) : []);
}
