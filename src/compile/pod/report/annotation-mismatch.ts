/**
 * Annotations of a bound pod that were edited. Kiln corrects those that record the address; those that request another address count for
 * the next pod. A running process keeps the address that it started with.
 */
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import type { Reason } from '../../../api/reasons.ts';
import { annotationKey, podAnnotation } from '../../../api/well-known.ts';
import { canonicalAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import type { World } from '../../../world/world.ts';
import { hasVipAddress, vipView } from '../../vip-eip/vip-view.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { addressesOfIp, ipText } from '../../ip/ip-object.ts';
import { ipPoolRanges, ipPoolSubnet } from '../../ip/ip-pool-subnet.ts';
import { findingsText } from '../../findings-text.ts';
import { isOutsidePools } from '../address/misbound.ts';
import type { RequestedValue } from '../address/requested-values.ts';
import { matchesAny, listedAddresses, poolName } from '../address/requested-addresses.ts';
import { interfaceAddressValues, requestedValuesOf } from '../address/requested-values.ts';
import type { Binding } from '../address/pod-binding.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, isAllocated } from '../interface/pod-interface.ts';
import { retainsAddress } from '../view/pod-view.ts';
import { vipNamed } from '../address/pod-vip.ts';
import { commandText } from '../../../text/command-text.ts';

/** Number of ranges of a pool in a message. */
const RANGES_SHOWN = 5;

/** The requested values that the interfaces do not have, as one obstacle of the pod; undefined if there are none. */
export function addressMismatch(
  world: World,
  bindings: readonly Binding[],
): { readonly reason: Reason; readonly message: string } | undefined {
  const findings = bindings.flatMap((binding) => mismatches(world, binding));
  const [first] = bindings;
  if (first === undefined || findings.length === 0) return undefined;
  const { pod } = first.nic;
  const { namespace, name } = pod;
  // If the address outlives the pod, deleting the pod changes nothing.
  const next = retainsAddress(pod)
    ? commandText`kiln explain pod ${name} -n ${namespace}`
    : commandText`kubectl delete pod -n ${namespace} ${name}`;
  return { reason: 'AddressKept', message: `${findingsText(findings)}; ${next}` };
}

function mismatches(world: World, binding: Binding): readonly Finding[] {
  const { nic, durable } = binding;
  if (durable === undefined || !isAllocated(nic)) return [];
  const { addresses } = durable;
  const families = requestedValuesOf(nic, ['ip_family']).filter(({ value }) => !isOfFamily(value, addresses));
  const requested = addressValue(world, nic);
  const others = requested === undefined || meets(world, binding, addresses, requested) ? families : [requested, ...families];
  return others.map((requestedValue) => mismatchFinding(world, nic, addresses, requestedValue));
}

/** The IP object reserved for a waiting interface if it has another address than the pod requests: the request is then the IP object's. */
export function reservedIpMismatch(world: World, binding: Binding): string | undefined {
  const { nic, ip } = binding;
  const addresses = ip === undefined ? undefined : addressesOfIp(ip);
  if (ip === undefined || addresses === undefined || isAllocated(nic)) return undefined;
  // The pod has no addresses yet: an annotation with an address is a request.
  const requested = addressValue(world, nic, ['ip_address', 'ip_pool']);
  return requested === undefined || meets(world, binding, addresses, requested) ? undefined : ip.metadata.name;
}

/** The requested address with precedence. On a bound pod, the annotation that records the address is Kiln's. */
function addressValue(
  world: World,
  nic: PodInterface,
  suffixes: readonly ('ip_address' | 'ip_pool')[] = ['ip_pool'],
): RequestedValue | undefined {
  const vip = vipNamed(world, nic);
  if (vip !== undefined) return { key: annotationKey.vip, value: vip };
  return [...interfaceAddressValues(nic), ...requestedValuesOf(nic, suffixes)][0];
}

function meets(world: World, { nic, ip }: Binding, addresses: Addresses, { key, value }: RequestedValue): boolean {
  if (key === annotationKey.vip) {
    const vip = world.ask(vipView, value);
    const has = vip?.addresses;
    return (ip !== undefined && hasVipAddress(vip, value, ip)) || (has?.v4 === addresses.v4 && has.v6 === addresses.v6);
  }
  if (key !== podAnnotation(nic.provider, 'ip_pool')) return matchesAny(addresses, [value]);
  const pool = poolName(value);
  if (pool !== '') return ip === undefined || (world.ask(ipPoolSubnet, pool) !== '' && !isOutsidePools(world, [pool], ip));
  const list = listedAddresses(value);
  const ordinal = nic.pod.statefulSet?.ordinal;
  return matchesAny(addresses, ordinal === undefined ? list : list.slice(ordinal, ordinal + 1));
}

function isOfFamily(family: string, { v4, v6 }: Addresses): boolean {
  return family.toLowerCase() === 'ipv4' ? v6 === '' : family.toLowerCase() === 'ipv6' ? v4 === '' : false;
}

function mismatchFinding(world: World, nic: PodInterface, addresses: Addresses, { key, value }: RequestedValue): Finding {
  const pool = key === podAnnotation(nic.provider, 'ip_pool') ? poolName(value) : '';
  const one = podAnnotation(nic.provider, 'ip_address');
  const unless = pool === '' ? '' : `, unless that requests an address by annotation ${one}, which has precedence over the pool`;
  const after = retainsAddress(nic.pod)
    ? 'and so does the next pod unless its template requests others'
    : `and this counts for the next pod${unless}`;
  return findingOf(subjectOf(nic), {
    code: 'AddressKept',
    field: `metadata.annotations[${key}]`,
    value,
    problem: `is not in effect: it has ${ipText(addresses)} of Subnet ${addresses.subnet}${pool === '' ? '' : poolText(world, pool)}`,
    rule: `a running pod keeps its address, ${after}`,
  });
}

/** Continues the sentence about an address that is not in the pool. */
function poolText(world: World, pool: string): string {
  if (world.ask(ipPoolSubnet, pool) === '') return `, and there is no IPPool ${pool}`;
  const ranges = world.ask(ipPoolRanges, pool);
  const more = ranges.length > RANGES_SHOWN ? ` and ${ranges.length - RANGES_SHOWN} more` : '';
  return `, and IPPool ${pool} has ${ranges.length === 0 ? 'none' : ranges.slice(0, RANGES_SHOWN).join(', ')}${more}`;
}

/** Annotations that record another address than the interface has. */
export function correctedAnnotations({ nic, durable }: Binding): readonly Finding[] {
  if (durable === undefined || !isAllocated(nic)) return [];
  const { addresses } = durable;
  const right = { ip_address: ipText(addresses), mac_address: addresses.mac, logical_switch: nic.isOvn ? addresses.subnet : '' };
  return (['ip_address', 'mac_address', 'logical_switch'] as const).flatMap((suffix) => {
    const value = annotationOf(nic, suffix);
    if (value === '' || right[suffix] === '' || value === right[suffix] || plain(value) === plain(right[suffix])) return [];
    return [
      findingOf(subjectOf(nic), {
        code: 'FieldCorrected',
        field: `metadata.annotations[${podAnnotation(nic.provider, suffix)}]`,
        value,
        problem: 'is not what the pod has',
        rule: `a running pod keeps its address, so Kiln sets it to "${right[suffix]}"`,
      }),
    ];
  });
}

/** A canonical spelling for comparison. */
function plain(text: string): string {
  return splitList(text.toLowerCase())
    .map((item) => canonicalAddress(item) ?? item)
    .join(',');
}

function subjectOf({ pod: { namespace, name } }: PodInterface): {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
} {
  return { kind: 'Pod', namespace, name };
}
