/**
 * Rules for the network annotations of a pod or pod template: for each provider, its addresses, MAC, pool and family, and its port. The
 * same rules apply in the webhook, the controller and the node agent.
 */

import { addressProblem, parseAddress } from '../../net/address.ts';
import type { Address } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import type { Cidr } from '../../net/cidr.ts';
import { ofFamily, parseDualCidr, splitList } from '../../net/dual.ts';
import type { Dual } from '../../net/dual.ts';
import { macProblem } from '../../net/mac.ts';
import { annotationExcess, MOST_CLAIMS, readable } from './annotation-limits.ts';
import { Findings } from '../validation/finding.ts';
import type { Finding, Subject } from '../validation/finding.ts';
import type { Labels } from '../kubernetes/meta.ts';
import type { Annotation, AnnotationRule } from './pod-annotation.ts';
import { breach } from './pod-annotation.ts';
import { portAnnotationRules } from './pod-port-validation.ts';
import { podAnnotation } from '../well-known.ts';
import type { PodAnnotationSuffix } from '../well-known.ts';
import { isObjectName } from '../values/object-name.ts';

const MARK = '.kubernetes.io/';
/** `<provider>.kubernetes.io/<suffix>`, followed by `.<interface>` for one of several interfaces. */
const networkKey = /^(ovn|[^/]+\.[^/]+)\.kubernetes\.io\/([a-z0-9_-]+)(?:\.[^/]+)?$/;

/** All rules that the annotations break. */
export const podNetworkFindings = (subject: Subject, annotations: Labels): readonly Finding[] => broken(subject, annotations, rules);

/** The broken rules about ports and node agents only: they still apply to a pod that has its addresses. */
export const podPortFindings = (subject: Subject, annotations: Labels): readonly Finding[] =>
  broken(subject, annotations, portAnnotationRules);

const broken = (subject: Subject, annotations: Labels, by: ReadonlyMap<string, AnnotationRule>): readonly Finding[] => {
  const findings = new Findings(subject);
  let claims = 0;
  for (const key of Object.keys(annotations)) {
    // Most annotations have no rule, and this runs for every pod.
    const at = key.indexOf(MARK) + MARK.length;
    const dot = key.indexOf('.', at);
    const kind = at < MARK.length ? '' : dot === -1 ? key.slice(at) : key.slice(at, dot);
    if (kind === 'allocated') claims += 1;
    const value = annotations[key] ?? '';
    const excess = isOwnWord(kind, by) ? undefined : annotationExcess(key, kind, value);
    if (excess !== undefined) findings.add({ ...excess, field: `metadata.annotations[${key}]`, value });
    if (excess !== undefined || !by.has(kind)) continue;
    const [, provider, suffix] = networkKey.exec(key) ?? [];
    if (provider === undefined || suffix === undefined) continue;
    by.get(suffix)?.({ findings, annotations, provider, key, value });
  }
  if (claims > MOST_CLAIMS)
    findings.add({
      code: 'InvalidAnnotation',
      field: 'metadata.annotations[<provider>.kubernetes.io/allocated]',
      value: 'true',
      problem: `is there for ${claims} interfaces`,
      rule: `at most ${MOST_CLAIMS} interfaces of a pod may have it; Kiln ignores it on networks that the pod does not attach`,
    });
  return findings.list;
};

/** On a pod that has its addresses, this annotation is Kiln's: Kiln corrects it, so no rule checks it. */
const isOwnWord = (kind: string, by: ReadonlyMap<string, AnnotationRule>): boolean => kind === 'ip_address' && !by.has(kind);

/** Another annotation of the same provider. */
const sibling = ({ annotations, provider }: Annotation, suffix: PodAnnotationSuffix): string =>
  annotations[podAnnotation(provider, suffix)] ?? '';

/** The networks of the pod's Subnet, if the annotations contain them. */
const boundCidrs = (annotation: Annotation): Dual<Cidr> | undefined => {
  const text = sibling(annotation, 'cidr');
  const result = text === '' ? undefined : parseDualCidr(text);
  return result?.ok === true ? result : undefined;
};

const inside = (cidrs: Dual<Cidr>, address: Address): boolean => {
  const cidr = ofFamily(cidrs, address.family);
  return cidr !== undefined && cidrContains(cidr, address);
};

const ipFamily = (annotation: Annotation): void => {
  const { value } = annotation;
  if (value !== 'ipv4' && value !== 'ipv6') {
    breach(annotation, 'PodIpFamilyInvalid', 'is not known', 'it is ipv4 or ipv6');
    return;
  }
  const requested = value === 'ipv4' ? 4 : 6;
  for (const item of splitList(readable('ip_address', sibling(annotation, 'ip_address')))) {
    const address = addressOf(item);
    if (address !== undefined && address.family !== requested)
      breach(annotation, 'PodIpFamilyInvalid', `contradicts the address ${item}`, 'the address asked for is of the family asked for');
  }
};

/** An address, or an address with a prefix. */
const addressOf = (text: string): Address | undefined =>
  parseAddress(text) ?? (parseCidr(text) && parseAddress(text.slice(0, text.indexOf('/'))));

const ipAddress = (annotation: Annotation): void => {
  const cidrs = boundCidrs(annotation);
  const seen = new Set<number>();
  for (const item of splitList(annotation.value)) {
    const rule = 'it is one address, or one of each family with a comma';
    const address = addressOf(item);
    if (address === undefined) {
      breach(
        annotation,
        'PodIpAddressInvalid',
        item === annotation.value ? `${addressProblem(item)}` : `holds "${item}", which ${addressProblem(item)}`,
        rule,
      );
      continue;
    }
    if (seen.has(address.family)) breach(annotation, 'PodIpAddressInvalid', `has two IPv${address.family} addresses`, rule);
    seen.add(address.family);
    if (cidrs !== undefined && !inside(cidrs, address))
      breach(
        annotation,
        'PodIpAddressInvalid',
        `has ${item}, outside of ${sibling(annotation, 'cidr')}`,
        'the address lies in the Subnet of the pod',
      );
  }
};

const macAddress = (annotation: Annotation): void => {
  const problem = annotation.value === '' ? undefined : macProblem(annotation.value);
  if (problem !== undefined) breach(annotation, 'PodMacAddressInvalid', problem, 'leave it out to have one chosen');
};

/** A list of addresses (`;` separates pairs) or the name of an IPPool. A range, a network or a part of a name is neither. */
const ipPool = (annotation: Annotation): void => {
  const value = annotation.value.trim();
  if (value === '' || (isObjectName(value) && parseAddress(value) === undefined)) return;
  const cidrs = boundCidrs(annotation);
  const parsed: Address[] = [];
  for (const item of value.split(/[,;]/).map((text) => text.trim())) {
    const address = parseAddress(item);
    if (address === undefined)
      breach(
        annotation,
        'PodIpPoolInvalid',
        `holds "${item}", which ${addressProblem(item)}`,
        'it is a list of addresses, or the name of one IPPool',
      );
    else parsed.push(address);
  }
  if (cidrs !== undefined && parsed.length > 0 && !parsed.some((address) => inside(cidrs, address)))
    breach(
      annotation,
      'PodIpPoolInvalid',
      `has no address of ${sibling(annotation, 'cidr')}`,
      'some of its addresses lie in the Subnet of the pod',
    );
};

const rules: ReadonlyMap<string, (annotation: Annotation) => void> = new Map([
  ['ip_family', ipFamily],
  ['ip_address', ipAddress],
  ['mac_address', macAddress],
  ['ip_pool', ipPool],
  ...portAnnotationRules,
]);
