/** Rules that an IPPool must keep. */

import { cidrRange, parseRangeOrCidr, rangeProblem } from '../net/range.ts';
import type { AddressRange } from '../net/range.ts';
import { cidrProblem } from '../net/cidr.ts';
import { formatDualCidr, ofFamily } from '../net/dual.ts';
import { Findings } from './finding.ts';
import type { Finding } from './finding.ts';
import type { IPPoolSpec } from './ip-pool.ts';
import { subnetCidrs } from './subnet-defaults.ts';
import type { NamedSubnet } from './subnet-defaults.ts';

/** The name and spec of an IPPool. */
export interface NamedIPPool {
  readonly name: string;
  readonly spec: IPPoolSpec;
}

/**
 * The rules that the pool breaks. `subnet` is the one that it names, undefined when there is none; `pools` are all
 * pools, the judged one maybe among them.
 */
export const ipPoolFindings = (
  { name, spec }: NamedIPPool,
  subnet: NamedSubnet | undefined,
  pools: Iterable<NamedIPPool> = [],
): readonly Finding[] => {
  const findings = new Findings({ kind: 'IPPool', name });
  if (subnet === undefined)
    findings.add({
      code: 'IPPoolSubnetMissing',
      field: 'spec.subnet',
      value: spec.subnet,
      problem: spec.subnet === '' ? 'is empty' : 'does not exist',
      rule: 'a pool is of a Subnet that exists: see kubectl get subnets',
    });
  if (spec.ips.length === 0)
    findings.add({ code: 'IPPoolIpsInvalid', field: 'spec.ips', value: '', problem: 'is empty', rule: 'a pool has addresses' });
  const ranges = spec.ips.map((item, index) => rangeOf(findings, item, index, subnet));
  for (const other of pools) {
    if (other.name === name || other.spec.subnet !== spec.subnet) continue;
    // What another pool asks outside of the Subnet it never has: such a pool is refused, and is in nobody's way.
    const taken = other.spec.ips.map(parseRangeOrCidr).filter((range) => range !== undefined && liesIn(range, subnet));
    for (const [index, range] of ranges.entries()) {
      if (range === undefined || !taken.some((theirs) => theirs !== undefined && meet(range, theirs))) continue;
      findings.add({
        code: 'IPPoolOverlap',
        field: `spec.ips[${index}]`,
        value: spec.ips[index] ?? '',
        problem: `has addresses of IPPool ${other.name}`,
        rule: 'an address is in one pool of a Subnet at most',
      });
    }
  }
  return findings.list;
};

const meet = (a: AddressRange, b: AddressRange): boolean => a.family === b.family && a.first <= b.last && b.first <= a.last;

const rangeOf = (findings: Findings, item: string, index: number, subnet: NamedSubnet | undefined): AddressRange | undefined => {
  const breach = (problem: string, rule: string): undefined => {
    findings.add({ code: 'IPPoolIpsInvalid', field: `spec.ips[${index}]`, value: item, problem, rule });
    return undefined;
  };
  const range = parseRangeOrCidr(item);
  if (range === undefined) {
    const problem = item.includes('/') ? cidrProblem(item) : rangeProblem(item);
    return breach(problem ?? 'is not understood', 'an item is an address, a range written first..last, or a network');
  }
  if (subnet === undefined) return range;
  if (liesIn(range, subnet)) return range;
  return breach(
    `is outside of Subnet ${subnet.name} (${formatDualCidr(subnetCidrs(subnet.spec))})`,
    'the addresses of a pool lie in its Subnet',
  );
};

const liesIn = (range: AddressRange, subnet: NamedSubnet | undefined): boolean => {
  const cidr = subnet && ofFamily(subnetCidrs(subnet.spec), range.family);
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
