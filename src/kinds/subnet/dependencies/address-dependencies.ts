/** The dependencies of Vips, EIPs and NAT rules, which are alike for the kinds of each family. */
import type { Dependency } from '../../../blockers/dependency.ts';
import { eipsOfRule } from '../../../blockers/present-eip.ts';
import { formerRulesOf, vipsInUseBy } from '../../vip/dependencies/vip-of-rule.ts';
import type { AddressResource } from '../../../world/address-objects.ts';
import type { NatRuleResource } from '../../../world/nat-rules.ts';
import { eipResourceOf, heldByRule } from '../../../world/nat-rules.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery, defineSet, where } from '../../../world/world.ts';
import { usesSubnet } from './subnet-users.ts';

export function addressObjectDependencies(dependent: AddressResource): readonly Dependency[] {
  return usesSubnet({
    dependent,
    dependents: defineSet(
      `${dependent}-of-subnet`,
      (world, value) => [{ kind: 'bucket', table: world.addressTable(dependent), index: 'subnet', value }],
      where((world, subnet, name) => world.ask(subnetHeldBy, `${dependent}/${name}`) === subnet),
    ),
    dependsOn: (world, name) => [world.ask(subnetHeldBy, `${dependent}/${name}`)].filter((subnet) => subnet !== ''),
  });
}

export function natRuleDependencies(dependent: NatRuleResource): readonly Dependency[] {
  return [
    ...usesSubnet({
      dependent,
      // A NAT rule holds the address of its EIP also after the EIP was removed by force.
      dependents: defineSet(
        `${dependent}-of-subnet`,
        (world, value) => [{ kind: 'bucket', table: world.natRules[dependent], index: 'subnet', value }],
        where((world, subnet, name) => world.ask(subnetHeldByRule, `${dependent}/${name}`) === subnet),
      ),
      dependsOn: (world, name) => [world.ask(subnetHeldByRule, `${dependent}/${name}`)].filter((subnet) => subnet !== ''),
    }),
    {
      on: eipResourceOf(dependent),
      dependent,
      dependents: defineSet(
        `${dependent}-of-eip`,
        (world, value) => [{ kind: 'bucket', table: world.natRules[dependent], index: 'eip', value }],
        where((world, eip, name) => world.ask(eipsOfRule, `${dependent}/${name}`).includes(eip)),
      ),
      dependsOn: (world, name) => world.ask(eipsOfRule, `${dependent}/${name}`),
    },
    ...vipDependency(dependent),
    {
      // The router of a Vpc has the rows of a rule in effect.
      on: 'vpcs',
      dependent,
      dependents: defineSet(`${dependent}-of-vpc`, (world, value) => [
        { kind: 'bucket', table: world.natRules[dependent], index: 'vpc', value },
      ]),
      dependsOn: (world, name) => [world.natRules[dependent].get(name)?.status?.vpc ?? ''].filter((vpc) => vpc !== ''),
    },
  ];
}

/** Rules of OVN may translate to a Vip; those of NAT gateways name addresses alone. */
function vipDependency(dependent: NatRuleResource): readonly Dependency[] {
  if (eipResourceOf(dependent) !== 'ovn-eips') return [];
  return [
    {
      on: 'vips',
      dependent,
      dependents: defineSet(
        `${dependent}-of-vip`,
        (world, value) => [
          { kind: 'bucket', table: world.natRules[dependent], index: 'ip', value },
          { kind: 'keys', keys: formerRulesOf(world, dependent, value) },
        ],
        where((world, vip, name) => world.ask(vipsInUseBy, `${dependent}/${name}`).includes(vip)),
      ),
      dependsOn: (world, name) => world.ask(vipsInUseBy, `${dependent}/${name}`),
    },
  ];
}

/** The Subnet of the address of a Vip or an EIP; empty while it only requests one. */
const subnetHeldBy: Query<string> = defineQuery('subnet-held-by', (world, key) => {
  const at = key.indexOf('/');
  const object = world.addressObject(key.slice(0, at) as AddressResource, key.slice(at + 1));
  return object?.held === undefined ? '' : object.subnet;
});

/** The Subnet of a NAT rule's address, if its EIP does not hold that; empty for none. */
const subnetHeldByRule: Query<string> = defineQuery('subnet-held-by-rule', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  const held = rule === undefined ? undefined : heldByRule(rule);
  if (held === undefined || world.ask(subnetHeldBy, `${eipResourceOf(resource)}/${held.eip}`) === held.subnet) return '';
  return held.subnet;
});
