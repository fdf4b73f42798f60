/** Validates the creation and change of a Vpc. */
import { routeHostBits } from '../../api/validation/vpc-host-bits.ts';
import type { Vpc } from '../../api/kinds/vpc.ts';
import { vpcFindings, vpcNamedAsSubnet } from '../../api/validation/vpc-validation.ts';
import { peeringOverlaps } from '../../compile/vpc/peering-overlaps.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { invalid, newFindings } from '../protocol/admission-result.ts';

export function validateVpcCreate(vpc: Vpc, observed: Observed): AdmissionResult {
  const { world, complete } = observed;
  const { name } = vpc.metadata;
  const taken = complete && world.subnets.has(name) ? [vpcNamedAsSubnet(name)] : [];
  return { denials: [...taken, ...findingsOf(vpc)].map(invalid), warnings: warningsOf(vpc, observed) };
}

export function validateVpcUpdate(before: Vpc, after: Vpc, observed: Observed): AdmissionResult {
  return { denials: newFindings(findingsOf(after), findingsOf(before)).map(invalid), warnings: warningsOf(after, observed) };
}

function findingsOf({ metadata: { name }, spec }: Vpc): ReturnType<typeof vpcFindings> {
  return vpcFindings({ name, spec });
}

function warningsOf(vpc: Vpc, { world, complete }: Observed): readonly string[] {
  const { name } = vpc.metadata;
  const { spec } = vpc;
  const overlaps = complete ? peeringOverlaps(world, name, spec, findingsOf(vpc)) : [];
  return [...routeHostBits({ name, spec }), ...overlaps].map(({ message }) => message);
}
