/** Rules for the spec of a Vip, an OvnEip or an IptablesEIP, with the field names of each kind. */

import type { Reason } from '../reasons.ts';
import { addressProblem, addressSpelling, parseAddress } from '../../net/address.ts';
import { macProblem } from '../../net/mac.ts';
import { Findings } from './finding.ts';
import type { Finding } from './finding.ts';
import type { IptablesEIPSpec } from '../kinds/iptables-eip.ts';
import type { OvnEipSpec } from '../kinds/ovn-eip.ts';
import type { VipSpec } from '../kinds/vip.ts';

export const VIP_TYPES = ['', 'switch_lb_vip', 'kube_host_vm_vip'] as const;
export const OVN_EIP_TYPES = ['', 'nat', 'lrp', 'lsp'] as const;

export const vipFindings = (name: string, spec: VipSpec): readonly Finding[] => {
  const findings = new Findings({ kind: 'Vip', name });
  required(findings, 'VipSubnetMissing', spec.subnet);
  oneOf(findings, 'VipTypeInvalid', spec.type ?? '', VIP_TYPES, 'it is switch_lb_vip, kube_host_vm_vip or empty');
  address(findings, 'VipAddressInvalid', 'spec.v4ip', spec.v4ip, 4);
  address(findings, 'VipAddressInvalid', 'spec.v6ip', spec.v6ip, 6);
  mac(findings, 'VipMacInvalid', spec.macAddress);
  for (const [i, item] of (spec.selector ?? []).entries()) {
    if (!/^[^:]+:[^:]*$/.test(item))
      findings.add({
        code: 'VipSelectorInvalid',
        field: `spec.selector[${i}]`,
        value: item,
        problem: 'is no label',
        rule: 'it is a label of the pods as key:value',
      });
  }
  return findings.list;
};

export const ovnEipFindings = (name: string, spec: OvnEipSpec): readonly Finding[] => {
  const findings = new Findings({ kind: 'OvnEip', name });
  oneOf(findings, 'OvnEipTypeInvalid', spec.type ?? '', OVN_EIP_TYPES, 'it is nat, lrp, lsp or empty, which means nat');
  address(findings, 'OvnEipAddressInvalid', 'spec.v4Ip', spec.v4Ip, 4);
  address(findings, 'OvnEipAddressInvalid', 'spec.v6Ip', spec.v6Ip, 6);
  mac(findings, 'OvnEipMacInvalid', spec.macAddress);
  return findings.list;
};

export const iptablesEipFindings = (name: string, spec: IptablesEIPSpec): readonly Finding[] => {
  const findings = new Findings({ kind: 'IptablesEIP', name });
  address(findings, 'IptablesEIPAddressInvalid', 'spec.v4ip', spec.v4ip, 4);
  if ((spec.v6ip ?? '') !== '')
    findings.add({
      code: 'IptablesEIPAddressInvalid',
      field: 'spec.v6ip',
      value: spec.v6ip ?? '',
      problem: 'cannot be given',
      rule: 'NAT gateways translate IPv4 only: leave it empty',
    });
  mac(findings, 'IptablesEIPMacInvalid', spec.macAddress);
  return findings.list;
};

const required = (findings: Findings, code: Reason, subnet: string | undefined): void => {
  if ((subnet ?? '') === '')
    findings.add({ code, field: 'spec.subnet', value: '', problem: 'is empty', rule: 'a Vip names the Subnet that it is from' });
};

const oneOf = (findings: Findings, code: Reason, value: string, known: readonly string[], rule: string): void => {
  if (!known.includes(value)) findings.add({ code, field: 'spec.type', value, problem: 'is not known', rule });
};

const address = (findings: Findings, code: Reason, field: string, value: string | undefined, family: 4 | 6): void => {
  if (value === undefined || value === '') return;
  const rule = `it is one IPv${family} address, or empty to have one chosen`;
  const parsed = parseAddress(value);
  if (parsed === undefined) findings.add({ code, field, value, problem: addressProblem(value) ?? 'is no address', rule });
  else if (parsed.family !== family) findings.add({ code, field, value, problem: `is an IPv${parsed.family} address`, rule });
  else if (addressSpelling(value) === 'upper-case')
    findings.add({ code, field, value, problem: 'has upper-case letters', rule: 'an IPv6 address is written in lower case' });
};

const mac = (findings: Findings, code: Reason, value: string | undefined): void => {
  const problem = value === undefined || value === '' ? undefined : macProblem(value);
  if (problem !== undefined)
    findings.add({ code, field: 'spec.macAddress', value: value ?? '', problem, rule: 'leave it empty to have one chosen' });
};
