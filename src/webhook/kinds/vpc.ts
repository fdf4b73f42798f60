/** Validates the creation and change of a Vpc. */
import { routeHostBits } from '../../api/validation/vpc-host-bits.ts';
import type { Vpc } from '../../api/kinds/vpc.ts';
import { vpcFindings, vpcNamedAsSubnet } from '../../api/validation/vpc-validation.ts';
import { labelKey } from '../../api/well-known.ts';
import { OVN_NAT_RULES } from '../../compile/nat/ovn-nat-rules.ts';
import { translations } from '../../compile/nat/translation.ts';
import { peeringOverlaps } from '../../compile/vpc/peering-overlaps.ts';
import { externalsOfSpec } from '../../world/external-subnets.ts';
import { traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { invalid, newFindings } from '../protocol/admission-result.ts';

export function validateVpcCreate(vpc: Vpc, observed: Observed): AdmissionResult {
  const { world, complete } = observed;
  const { name } = vpc.metadata;
  const taken = complete && world.subnets.has(name) ? [vpcNamedAsSubnet(name)] : [];
  return { denials: [...taken, ...findingsOf(vpc)].map(invalid), warnings: warningsOf(vpc, observed) };
}

export function validateVpcUpdate(before: Vpc, after: Vpc, observed: Observed): AdmissionResult {
  return {
    denials: newFindings(findingsOf(after), findingsOf(before)).map(invalid),
    warnings: [...warningsOf(after, observed), ...disconnected(before, after, observed)],
  };
}

/** Most NAT rules that a warning names. */
const NAMED = 5;

/** The edit takes the router's port in an external Subnet away, and with it what NAT rules translate there. */
function disconnected(before: Vpc, after: Vpc, { world, complete }: Observed): readonly string[] {
  const { name } = after.metadata;
  if (!complete || after.metadata.labels?.[labelKey.vpcExternal] === 'true') return [];
  const kept = externalsOfSpec(world, name, after.spec);
  return externalsOfSpec(world, name, before.spec)
    .filter((subnet) => !kept.includes(subnet))
    .flatMap((subnet) => {
      const rules = translating(world, name, subnet);
      if (rules.length === 0) return [];
      const more = rules.length > NAMED ? ` and ${rules.length - NAMED} more` : '';
      const what = rules.length === 1 ? 'one NAT rule translates' : `${rules.length} NAT rules translate`;
      return [
        `Vpc ${name}: its router loses its port in Subnet ${subnet}, where ${what}: ${rules.slice(0, NAMED).join(', ')}${more}; what they translate stops, until the Vpc requests that port again`,
      ];
    });
}

/** The NAT rules in effect in the router of a Vpc with an address of an external Subnet, sorted. */
function translating(world: World, vpc: string, subnet: string): readonly string[] {
  return OVN_NAT_RULES.flatMap((resource) =>
    [...world.natRules[resource].bucket('vpc', vpc)].flatMap((rule) => {
      const result = world.derived(translations).get(`${resource}/${rule}`)?.result;
      return result?.kind === 'translation' && result.vpc === vpc && result.external === subnet
        ? [`${traitsOf(resource).kind} ${rule}`]
        : [];
    }),
  ).toSorted();
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
