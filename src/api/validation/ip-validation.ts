/** Rules for an IP object. */

import { addressProblem, addressSpelling, canonicalAddress, parseAddress } from '../../net/address.ts';
import { cidrContains } from '../../net/cidr.ts';
import { formatDualCidr, ofFamily, parseDualAddress, splitList } from '../../net/dual.ts';
import { macProblem, parseMac } from '../../net/mac.ts';
import { Findings } from './finding.ts';
import type { Finding } from './finding.ts';
import type { IPSpec } from '../kinds/ip.ts';
import { isSubnetOwnedIp, nodePortName, portName } from '../names.ts';
import { effectiveProvider, subnetCidrs } from '../defaults/subnet-defaults.ts';
import type { NamedSubnet } from '../defaults/subnet-defaults.ts';

/** The name and spec of an IP. */
export interface NamedIP {
  readonly name: string;
  readonly spec: IPSpec;
}

const podTypes = ['', 'StatefulSet', 'VirtualMachine'];

/**
 * The rules that the IP breaks.
 * @param subnet the Subnet that the IP names; undefined if it does not exist
 */
export const ipFindings = ({ name, spec }: NamedIP, subnet: NamedSubnet | undefined): readonly Finding[] => {
  const findings = new Findings({ kind: 'IP', name });
  const { subnet: subnetName = '' } = spec;
  if (subnetName === '')
    findings.add({
      code: 'IPSubnetMissing',
      field: 'spec.subnet',
      value: '',
      problem: 'is empty',
      rule: 'an IP names the Subnet that it is from',
    });
  else if (subnet === undefined)
    findings.add({
      code: 'IPSubnetMissing',
      field: 'spec.subnet',
      value: subnetName,
      problem: 'does not exist',
      rule: 'an IP is from a Subnet that exists; kubectl get subnets',
    });
  unreadable(findings, spec);
  placed(findings, spec, subnet);
  if (subnet !== undefined) ownName(findings, name, spec, subnet);
  return findings.list;
};

/** The rules about texts that are unreadable or contradictory: no state of other objects makes such a request possible. */
export const ipTextFindings = ({ name, spec }: NamedIP): readonly Finding[] => {
  const findings = new Findings({ kind: 'IP', name });
  unreadable(findings, spec);
  return findings.list;
};

const unreadable = (findings: Findings, spec: IPSpec): void => {
  const { podType = '', macAddress = '' } = spec;
  if (!podTypes.includes(podType))
    findings.add({
      code: 'IPPodTypeInvalid',
      field: 'spec.podType',
      value: podType,
      problem: 'is not known',
      rule: 'it is StatefulSet, VirtualMachine or empty',
    });
  const mac = macAddress === '' ? undefined : macProblem(macAddress);
  if (mac !== undefined)
    findings.add({
      code: 'IPMacInvalid',
      field: 'spec.macAddress',
      value: macAddress,
      problem: mac,
      rule: 'leave it empty to have one chosen',
    });
  for (const { field, family, value } of singleAddresses(spec))
    if (parseAddress(value)?.family !== family)
      findings.add({
        code: 'IPAddressInvalid',
        field: `spec.${field}`,
        value,
        problem: addressProblem(value) ?? `is not an IPv${family} address`,
        rule: `it is one IPv${family} address, or empty`,
      });
  both(findings, spec);
};

const singleAddresses = ({ v4IpAddress = '', v6IpAddress = '' }: IPSpec): readonly { field: string; family: 4 | 6; value: string }[] =>
  [
    { field: 'v4IpAddress', family: 4 as const, value: v4IpAddress },
    { field: 'v6IpAddress', family: 6 as const, value: v6IpAddress },
  ].filter(({ value }) => value !== '');

/** Checks of readable addresses: spelling and position in the Subnet. */
const placed = (findings: Findings, spec: IPSpec, subnet: NamedSubnet | undefined): void => {
  const cidrs = subnet && subnetCidrs(subnet.spec);
  for (const { field, family, value } of singleAddresses(spec)) {
    const address = parseAddress(value);
    if (address?.family !== family) continue;
    const breach = (problem: string, rule: string): void =>
      findings.add({ code: 'IPAddressInvalid', field: `spec.${field}`, value, problem, rule });
    if (addressSpelling(value) === 'upper-case') breach('has capitals', `write it ${canonicalAddress(value)}: it is compared as text`);
    else if (cidrs !== undefined) {
      const cidr = ofFamily(cidrs, family);
      if (cidr === undefined || !cidrContains(cidr, address))
        breach(`is outside of Subnet ${spec.subnet} (${formatDualCidr(cidrs)})`, 'an IP lies in its Subnet');
    }
  }
};

/** `ipAddress` and the fields of each family are equal if both are set. */
const both = (findings: Findings, { ipAddress = '', v4IpAddress = '', v6IpAddress = '' }: IPSpec): void => {
  if (ipAddress === '') return;
  const breach = (problem: string, rule: string): void =>
    findings.add({ code: 'IPAddressInvalid', field: 'spec.ipAddress', value: ipAddress, problem, rule });
  const result = parseDualAddress(ipAddress);
  if (!result.ok) {
    breach(result.problem, 'it is one address, or one of each family with a comma');
    return;
  }
  const listed = splitList(ipAddress).map(canonicalAddress);
  for (const value of [v4IpAddress, v6IpAddress])
    if (value !== '' && !listed.includes(canonicalAddress(value)))
      breach(`does not have ${value}`, 'it must have the addresses of spec.v4IpAddress and spec.v6IpAddress');
};

/** The name of an IP object follows from its pod and provider, and Kiln finds the object by it. */
const ownName = (findings: Findings, name: string, spec: IPSpec, subnet: NamedSubnet): void => {
  const { podName = '', namespace = '', nodeName = '' } = spec;
  if (podName === '' || isSubnetOwnedIp(name)) return;
  const expected = namespace === '' ? nodePortName(nodeName || podName) : portName(podName, namespace, effectiveProvider(subnet.spec));
  // A pod with several interfaces of one attachment has one name for each interface.
  if (name !== expected && !(namespace !== '' && name.startsWith(`${expected}.`)))
    findings.add({
      code: 'IPNameMismatch',
      field: 'metadata.name',
      value: name,
      problem: 'is not the name of the port that it is for',
      rule: `an IP for ${namespace === '' ? 'node' : 'pod'} ${namespace === '' ? podName : `${namespace}/${podName}`} in Subnet ${subnet.name} is named ${expected}`,
    });
};

const fixedOnceSet = ['subnet', 'namespace', 'podName', 'podType', 'v4IpAddress', 'v6IpAddress', 'macAddress'] as const;

/** Compares addresses and MACs by value: a different spelling is no change. */
const sameValue = (a: string, b: string): boolean =>
  a === b || (canonicalAddress(a) ?? parseMac(a) ?? a) === (canonicalAddress(b) ?? parseMac(b) ?? b);

/** The rules that a change breaks. */
export const ipUpdateFindings = (before: NamedIP, after: NamedIP): readonly Finding[] => {
  const findings = new Findings({ kind: 'IP', name: after.name });
  for (const field of fixedOnceSet) {
    const [old, now] = [before.spec[field] ?? '', after.spec[field] ?? ''];
    if (old !== '' && !sameValue(old, now))
      findings.add({
        code: 'IPFieldImmutable',
        field: `spec.${field}`,
        value: now,
        problem: `replaces "${old}"`,
        rule: 'it cannot change once it is set: delete this IP and make another',
      });
  }
  return findings.list;
};
