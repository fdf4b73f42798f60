/** Rules for annotations about a pod's port and about the node agent's work on its interface: everything except addresses. */

import { addressProblem, parseAddress } from '../../net/address.ts';
import { parseCidr } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import { MOST_ROUTES } from './annotation-limits.ts';
import type { OptionsFor } from '../values/option-text.ts';
import { optionProblems } from '../values/option-text.ts';
import type { Annotation, AnnotationRule } from './pod-annotation.ts';
import { breach } from './pod-annotation.ts';

/** Largest 32-bit signed integer: node agents parse numbers into that type. */
const LARGEST = 2_147_483_647;
/** The interface types that a node agent can create for a pod. */
export const NIC_TYPES = ['veth-pair', 'offload-port', 'dpdk-port', 'internal-port', 'sriov'];
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const rate: AnnotationRule = (annotation) => {
  if (!isWhole(annotation.value))
    breach(annotation, 'PodRateInvalid', 'is no rate', `it is a whole number of megabits, from 0 to ${LARGEST}`);
};

const whole: AnnotationRule = (annotation) => {
  if (!isWhole(annotation.value)) breach(annotation, 'PodQosInvalid', 'is no whole number', `it is a whole number from 0 to ${LARGEST}`);
};

const percentage: AnnotationRule = (annotation) => {
  if (!/^\d{1,3}(\.\d{1,9})?$/.test(annotation.value) || Number(annotation.value) > 100)
    breach(annotation, 'PodQosInvalid', 'is no percentage', 'it is a number from 0 to 100');
};

const yesOrNo: AnnotationRule = (annotation) => {
  if (!['', 'true', 'false'].includes(annotation.value.trim()))
    breach(annotation, 'PodSwitchInvalid', 'is not known', 'it is true or false');
};

const nicType: AnnotationRule = (annotation) => {
  const value = annotation.value.trim();
  if (value !== '' && !NIC_TYPES.includes(value))
    breach(annotation, 'PodNicTypeInvalid', 'is not known', `it is one of ${NIC_TYPES.join(', ')}`);
};

/** Addresses and networks in a comma-separated list. OVN cannot read other items: Kiln omits and reports them. */
export const portVipsIn = (text: string): readonly string[] => splitList(text).filter(isAddressOrNetwork);

const furtherAddresses: AnnotationRule = (annotation) => {
  for (const item of splitList(annotation.value)) {
    if (isAddressOrNetwork(item)) continue;
    const problem = addressProblem(item) ?? 'is no address';
    breach(annotation, 'PodPortVipsInvalid', `holds "${item}", which ${problem}`, 'it is a list of addresses or networks with commas');
  }
};

/** SecurityGroups in a comma-separated list. Items that cannot be a name are omitted and reported; they get no key on the port. */
export const securityGroupsIn = (text: string): readonly string[] => splitList(text).filter((item) => OBJECT_NAME.test(item));

const securityGroups: AnnotationRule = (annotation) => {
  for (const item of splitList(annotation.value)) {
    if (!OBJECT_NAME.test(item))
      breach(
        annotation,
        'PodSecurityGroupsInvalid',
        `holds "${item}", which is no name`,
        'it is a list of names of SecurityGroups with commas',
      );
  }
};

const dhcpOptions =
  (of: OptionsFor): AnnotationRule =>
  (annotation) => {
    for (const { problem, rule } of optionProblems(annotation.value, of)) breach(annotation, 'PodDhcpOptionsInvalid', problem, rule);
  };

const routes: AnnotationRule = (annotation) => {
  if (annotation.value.trim() === '') return;
  const rule = 'it is a JSON list of routes such as [{"dst":"10.0.0.0/8","gw":"10.16.0.254"}]';
  let list: unknown;
  try {
    list = JSON.parse(annotation.value);
  } catch {
    breach(annotation, 'PodRoutesInvalid', 'is not JSON', rule);
    return;
  }
  if (!Array.isArray(list)) {
    breach(annotation, 'PodRoutesInvalid', 'is no list', rule);
    return;
  }
  if (list.length > MOST_ROUTES) {
    breach(annotation, 'PodRoutesInvalid', `has ${list.length} items`, `it has at most ${MOST_ROUTES} routes`);
    return;
  }
  for (const [i, route] of (list as readonly unknown[]).entries()) {
    const problem = routeProblem(route);
    if (problem !== undefined) breach(annotation, 'PodRoutesInvalid', `has a route ${i} ${problem}`, rule);
  }
};

/** A route without a destination is the default route. */
function routeProblem(route: unknown): string | undefined {
  if (typeof route !== 'object' || route === null) return 'that is no object';
  const { dst = '', gw } = route as { readonly dst?: unknown; readonly gw?: unknown };
  if (typeof dst !== 'string' || (dst !== '' && parseCidr(dst) === undefined && parseAddress(dst) === undefined))
    return `whose dst ${JSON.stringify(dst)} is no network`;
  const gateway = typeof gw === 'string' ? parseAddress(gw) : undefined;
  if (gateway === undefined) return `whose gw ${JSON.stringify(gw ?? null)} is no address`;
  const family = dst === '' ? gateway.family : (parseCidr(dst)?.family ?? parseAddress(dst)?.family);
  return family === gateway.family ? undefined : `whose gw "${String(gw)}" is of the other family than its dst "${dst}"`;
}

function isAddressOrNetwork(item: string): boolean {
  return parseAddress(item) !== undefined || parseCidr(item) !== undefined;
}

function isWhole(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) <= LARGEST;
}

/** Keyed by the part of the annotation key after the provider. */
export const portAnnotationRules: ReadonlyMap<string, (annotation: Annotation) => void> = new Map([
  ['ingress_rate', rate],
  ['egress_rate', rate],
  ['ingress_burst', rate],
  ['egress_burst', rate],
  ['latency', whole],
  ['limit', whole],
  ['jitter', whole],
  ['loss', percentage],
  ['port_security', yesOrNo],
  ['layer2_forward', yesOrNo],
  ['default_route', yesOrNo],
  ['pod_nic_type', nicType],
  ['port_vips', furtherAddresses],
  ['security_groups', securityGroups],
  ['dhcp-v4-options', dhcpOptions('DHCPv4')],
  ['dhcp-v6-options', dhcpOptions('DHCPv6')],
  ['routes', routes],
]);
