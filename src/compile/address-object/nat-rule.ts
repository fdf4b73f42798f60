/**
 * Rules that translate by an EIP are marked with its address and Subnet, as Kube-OVN's are, though nothing else of them is carried out: while
 * one names the EIP its address is booked, even when the EIP itself was taken away by force.
 */
import { addressLabelValue, annotationKey, labelKey } from '../../api/well-known.ts';
import type { AddressResource, AddressTexts } from '../../world/address-objects.ts';
import { keysOf } from '../../world/domain.ts';
import type { NatRuleResource } from '../../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, heldByRule, NAT_RULES } from '../../world/nat-rules.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import { networkOfObject } from '../subnet/subnet-missing.ts';

interface Booked extends AddressTexts {
  readonly subnet: string;
}

/** What an EIP has; key `<resource>/<name>`. A value: other fields of the EIP run no rule's rule. */
const bookedBy: Query<Booked | undefined> = defineQuery('eip-booked', (world, key) => {
  const at = key.indexOf('/');
  const eip = world.addressObject(key.slice(0, at) as AddressResource, key.slice(at + 1));
  return eip?.held === undefined ? undefined : { subnet: eip.subnet, ...eip.held };
});

export const natRuleMarks: readonly Rule[] = NAT_RULES.map((resource) => ({
  name: `${resource}-mark`,
  over: (world) => keysOf(world.natRules[resource]),
  run: (world, name) => {
    const rule = world.natRules[resource].get(name);
    if (rule === undefined) return [];
    const eip = eipOfRule(rule);
    const held = heldByRule(rule);
    const network = held === undefined ? [] : networkOfObject(world, { resource, name, subnet: held.subnet });
    const booked = world.ask(bookedBy, `${eipResourceOf(resource)}/${eip}`);
    if (booked === undefined) return network;
    return [
      ...network,
      {
        kind: 'patch',
        resource,
        key: name,
        uid: rule.metadata.uid,
        labels: markedWith(resource, booked),
        annotations: { [annotationKey.vpcEip]: eip },
      },
    ];
  },
}));

function markedWith(resource: NatRuleResource, { subnet, v4, v6 }: Booked): Readonly<Record<string, string>> {
  const v6Label = resource.startsWith('ovn-') ? { [labelKey.eipV6]: addressLabelValue(v6) } : {};
  return { [labelKey.subnet]: subnet, [labelKey.eipV4]: v4, ...v6Label };
}
