/** Validates the creation and change of an IPPool. A Subnet that does not exist yet is no error: the pool waits for it. */
import type { Finding } from '../../api/validation/finding.ts';
import type { IPPool } from '../../api/kinds/ip-pool.ts';
import { ipPoolFindings, ipPoolOverlaps, ipPoolUpdateFindings } from '../../api/validation/ip-pool-validation.ts';
import { PoolRanges } from '../../api/validation/pool-ranges.ts';
import { poolSubnet, validPools } from '../../compile/ip/ip-pool-findings.ts';
import { latePoolMessage } from '../../compile/ip/ip-pool.ts';
import { ipPoolAddresses } from '../../compile/ip/ip-pool-subnet.ts';
import { subnetTerminating, isClosed } from '../../compile/subnet/validity/subnet-ready.ts';
import type { World } from '../../world/world.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { forbidden, invalid, newFindings } from '../protocol/admission-result.ts';

const WAITED_FOR = 'IPPoolSubnetMissing';

export function validateIpPoolCreate(pool: IPPool, { world, complete }: Observed): AdmissionResult {
  const findings = findingsOf(pool, complete ? world : undefined);
  const waits = complete ? findings.filter(({ code, value }) => code === WAITED_FOR && value !== '') : [];
  const { subnet } = pool.spec;
  const terminating = complete && world.ask(isClosed, subnet);
  return {
    denials: [
      ...findings.filter(({ code, value }) => code !== WAITED_FOR || value === '').map(invalid),
      ...(terminating
        ? [forbidden({ ...subnetTerminating(subnet), message: latePoolMessage(pool.metadata.name, subnet) }, 'spec.subnet')]
        : []),
    ],
    warnings: waits.map(({ message }) => message),
  };
}

export function validateIpPoolUpdate(before: IPPool, after: IPPool, { world, complete }: Observed): AdmissionResult {
  const all = complete ? world : undefined;
  const findings = [
    ...ipPoolUpdateFindings(namedOf(before), namedOf(after)),
    ...newFindings(findingsOf(after, all), findingsOf(before, all)).filter(({ code }) => code !== WAITED_FOR),
  ];
  return { denials: findings.map(invalid), warnings: [] };
}

function namedOf({ metadata: { name }, spec }: IPPool): { readonly name: string; readonly spec: IPPool['spec'] } {
  return { name, spec };
}

function findingsOf(pool: IPPool, world: World | undefined): readonly Finding[] {
  const named = namedOf(pool);
  const { subnet } = pool.spec;
  const findings = ipPoolFindings(named, world === undefined ? undefined : poolSubnet(world, subnet));
  if (world === undefined) return findings;
  const others = new PoolRanges();
  for (const name of validPools(world, subnet)) if (name !== named.name) others.add(name, world.ask(ipPoolAddresses, name));
  return [...findings, ...ipPoolOverlaps(named, others)];
}
