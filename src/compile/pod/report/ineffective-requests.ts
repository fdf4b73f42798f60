/**
 * Requests of an interface that are valid and have no effect, since another one has precedence: addresses, an IPPool or a MAC beside a Vip,
 * an IPPool beside an address, a Vpc that is not that of its Subnet. Kiln writes the addresses and the Vpc of the interface over its
 * requests, so that most findings are in the pod's condition only until it is bound; their Events stay.
 */
import type { Finding, Subject } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { annotationKey, podAnnotation } from '../../../api/well-known.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import { canonicalAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import { parseMac } from '../../../net/mac.ts';
import type { World } from '../../../world/world.ts';
import { vipView } from '../../vip-eip/vip-view.ts';
import { subnetView } from '../../subnet/validity/subnet-view.ts';
import { bindingOf } from '../address/pod-binding.ts';
import { vipNamed } from '../address/pod-vip.ts';
import { interfaceAddressValues, requestedValuesOf } from '../address/requested-values.ts';
import type { RequestedValue } from '../address/requested-values.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { isAllocated } from '../interface/pod-interface.ts';

const OUTRANKED = /^(.+)\.kubernetes\.io\/(?:logical_router|ip_pool)$/;

/** Whether a pod without a Vip may have such a request: a cheap test, for the many that have none. */
export function mayHaveIneffectiveRequests(annotations: Labels): boolean {
  return Object.keys(annotations).some((key) => {
    const provider = OUTRANKED.exec(key)?.[1];
    return provider !== undefined && annotations[`${provider}.kubernetes.io/allocated`] !== 'true';
  });
}

/** @param annotations of its pod, all of them: the view leaves out what is no request */
export function ineffectiveRequests(world: World, subject: Subject, nic: PodInterface, annotations: Labels): readonly Finding[] {
  const vip = vipNamed(world, nic);
  return [
    ...(vip === undefined ? besideAddress(subject, nic) : besideVip(world, subject, nic, vip)),
    ...ofAnotherVpc(world, subject, nic, annotations),
  ];
}

function besideVip(world: World, subject: Subject, nic: PodInterface, name: string): readonly Finding[] {
  const vip = world.ask(vipView, name)?.addresses;
  const has = (text: string): boolean =>
    vip !== undefined && splitList(text).every((one) => [vip.v4, vip.v6].includes(canonicalAddress(one.split('/')[0] ?? '') ?? one));
  const addresses = isAllocated(nic)
    ? []
    : [...interfaceAddressValues(nic), ...requestedValuesOf(nic, ['ip_address'])].filter(({ value }) => !has(value));
  const macs = isAllocated(nic)
    ? []
    : requestedValuesOf(nic, ['mac_address']).filter(({ value }) => vip === undefined || parseMac(value) !== parseMac(vip.mac));
  const rule = `the pod has the addresses and the MAC of Vip ${name}, which ${annotationKey.vip} names, as they are`;
  return [...addresses, ...macs, ...requestedValuesOf(nic, ['ip_pool'])].map((one) => finding(subject, one, rule));
}

function besideAddress(subject: Subject, nic: PodInterface): readonly Finding[] {
  if (isAllocated(nic)) return [];
  const [first] = [...interfaceAddressValues(nic), ...requestedValuesOf(nic, ['ip_address'])];
  if (first === undefined) return [];
  return requestedValuesOf(nic, ['ip_pool']).map((pool) =>
    finding(subject, pool, `annotation ${first.key} names the address, and has precedence`),
  );
}

function ofAnotherVpc(world: World, subject: Subject, nic: PodInterface, annotations: Labels): readonly Finding[] {
  const key = podAnnotation(nic.provider, 'logical_router');
  const value = (annotations[key] ?? '').trim();
  if (value === '' || isAllocated(nic)) return [];
  const { requestState } = bindingOf(world, nic);
  const subnets = requestState.kind === 'address-request' ? requestState.request.subnets : [];
  const vpcs = subnets.flatMap((subnet) => world.ask(subnetView, subnet)?.vpc ?? []);
  if (vpcs.length === 0 || vpcs.includes(value)) return [];
  const rule =
    `the pod is in Vpc ${[...new Set(vpcs)].join(' or ')}, that of its Subnet ${subnets.join(' or ')}: name a Subnet of another Vpc in ` +
    podAnnotation(nic.provider, 'logical_switch');
  return [finding(subject, { key, value }, rule)];
}

function finding(subject: Subject, { key, value }: RequestedValue, rule: string): Finding {
  const field = `metadata.annotations[${key}]`;
  return findingOf(subject, { code: 'AnnotationIneffective', field, value, problem: 'does nothing', rule });
}
