/** Rules for an IPPool. */

import { cidrRange, parseRangeOrCidr, rangeProblem } from '../../net/range.ts';
import type { AddressRange } from '../../net/range.ts';
import { cidrProblem } from '../../net/cidr.ts';
import { formatDualCidr, ofFamily } from '../../net/dual.ts';
import { findingOf, Findings } from './finding.ts';
import type { Finding } from './finding.ts';
import type { IPPoolSpec } from '../kinds/ip-pool.ts';
import type { PoolRanges } from './pool-ranges.ts';
import { subnetCidrs } from '../defaults/subnet-defaults.ts';
import type { NamedSubnet } from '../defaults/subnet-defaults.ts';

/** The name and spec of an IPPool. */
export interface NamedIPPool {
  readonly name: string;
  readonly spec: IPPoolSpec;
}

/** The Subnet of an IPPool. */
export interface PoolSubnet extends NamedSubnet {
  /** The networks still in effect while addresses outside of the new `cidrBlock` are in use; empty if no change is pending. */
  readonly awaits?: string;
}

/**
 * The rules that the pool breaks.
 * @param subnet the Subnet that the pool names; undefined if it does not exist
 */
export const ipPoolFindings = ({ name, spec }: NamedIPPool, subnet: PoolSubnet | undefined): readonly Finding[] => {
  const findings = new Findings({ kind: 'IPPool', name });
  if (subnet === undefined)
    findings.add({
      code: 'IPPoolSubnetMissing',
      field: 'spec.subnet',
      value: spec.subnet,
      problem: spec.subnet === '' ? 'is empty' : 'does not exist',
      rule: 'a pool is of a Subnet that exists; kubectl get subnets',
    });
  if (spec.ips.length === 0)
    findings.add({ code: 'IPPoolIpsInvalid', field: 'spec.ips', value: '', problem: 'is empty', rule: 'a pool has addresses' });
  for (const [index, item] of spec.ips.entries()) checkItem(findings, item, index, subnet);
  return findings.list;
};

/** Overlaps with other pools of its Subnet. */
export const ipPoolOverlaps = ({ name, spec }: NamedIPPool, others: PoolRanges): readonly Finding[] =>
  spec.ips.flatMap((value, index) => {
    const range = parseRangeOrCidr(value);
    return (range === undefined ? [] : others.meeting(range)).map((other) =>
      findingOf(
        { kind: 'IPPool', name },
        {
          code: 'IPPoolOverlap',
          field: `spec.ips[${index}]`,
          value,
          problem: `has addresses of IPPool ${other}`,
          rule: 'an address is in one pool of a Subnet at most',
        },
      ),
    );
  });

const checkItem = (findings: Findings, item: string, index: number, subnet: PoolSubnet | undefined): void => {
  const breach = (problem: string, rule: string): void =>
    findings.add({ code: 'IPPoolIpsInvalid', field: `spec.ips[${index}]`, value: item, problem, rule });
  const range = parseRangeOrCidr(item);
  if (range === undefined) {
    const problem = item.includes('/') ? cidrProblem(item) : rangeProblem(item);
    breach(problem ?? 'is not understood', 'an item is an address, a range written first..last, or a network');
  } else if (subnet !== undefined && !liesIn(range, subnet)) {
    const { name, spec, awaits = '' } = subnet;
    const asked = formatDualCidr(subnetCidrs(spec));
    const cidrs = awaits === '' ? asked : `${asked} by its spec; ${awaits} is in effect until no address outside of that is in use`;
    breach(`is outside of Subnet ${name} (${cidrs})`, 'the addresses of a pool lie in its Subnet');
  }
};

const liesIn = (range: AddressRange, subnet: NamedSubnet): boolean => {
  const cidr = ofFamily(subnetCidrs(subnet.spec), range.family);
  const bounds = cidr && cidrRange(cidr);
  return bounds !== undefined && range.first >= bounds.first && range.last <= bounds.last;
};

/** The rules that a change breaks. */
export const ipPoolUpdateFindings = (before: NamedIPPool, after: NamedIPPool): readonly Finding[] => {
  const findings = new Findings({ kind: 'IPPool', name: after.name });
  if (before.spec.subnet !== '' && before.spec.subnet !== after.spec.subnet)
    findings.add({
      code: 'IPPoolSubnetImmutable',
      field: 'spec.subnet',
      value: after.spec.subnet,
      problem: `replaces "${before.spec.subnet}"`,
      rule: 'a pool stays in its Subnet: make another pool',
    });
  return findings.list;
};
