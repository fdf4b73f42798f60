import type { Dependency } from '../../blockers/dependency.ts';
import { subnetsOnVlan, vlanOfSubnet } from './dependencies/vlan-subnets.ts';
import { subnetsInRouter, vpcOfSubnet } from './dependencies/vpc-subnets.ts';

export const dependencies: readonly Dependency[] = [
  { on: 'vpcs', dependent: 'subnets', dependents: subnetsInRouter, dependsOn: vpcOfSubnet },
  { on: 'vlans', dependent: 'subnets', dependents: subnetsOnVlan, dependsOn: vlanOfSubnet },
];
