/** Fields of a Subnet with impossible values: Kube-OVN corrects them, and so does Kiln, and reports the correction. */
import type { Finding } from './finding.ts';
import { findingOf } from './finding.ts';
import type { NamedSubnet, SubnetDefaults } from '../defaults/subnet-defaults.ts';

/** @param defaults the changes of `subnetDefaults` */
export function correctedFields({ name, spec }: NamedSubnet, defaults: SubnetDefaults): readonly Finding[] {
  const subject = { kind: 'Subnet', name };
  const findings: Finding[] = [];
  const { protocol = '' } = spec;
  if (protocol !== '' && typeof defaults.protocol === 'string')
    findings.push(
      findingOf(subject, {
        code: 'FieldCorrected',
        field: 'spec.protocol',
        value: protocol,
        problem: 'is not that of its networks',
        rule: `the protocol follows from spec.cidrBlock, so Kiln sets it to ${defaults.protocol}`,
      }),
    );
  if (spec.default === true && defaults.default === false)
    findings.push(
      findingOf(subject, {
        code: 'FieldCorrected',
        field: 'spec.default',
        value: 'true',
        problem: 'is of another Subnet',
        rule: 'a cluster has one default Subnet, which the setting default-ls names, so Kiln sets it to false',
      }),
    );
  return findings;
}
