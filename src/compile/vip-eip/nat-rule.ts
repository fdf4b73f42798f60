/**
 * Annotations and labels of the NAT rules that name an EIP: the EIP, its address and its Subnet, as Kube-OVN writes them; rules of iptables
 * have nothing else (`../nat` has the rows of the others). While a NAT rule names an EIP it holds the address, even if the EIP was removed by force. A NAT rule that
 * starts to name an EIP that is being deleted is not accepted and reports that. To distinguish it from one that named the EIP before, also
 * after a time without a controller, the annotation names the EIP even before that EIP exists, and is empty while the NAT rule is not
 * accepted.
 */
import { findingOf } from '../../api/validation/finding.ts';
import { addressLabelValue, annotationKey, labelKey } from '../../api/well-known.ts';
import { isLateForEip } from '../../blockers/late-nat-rules.ts';
import { presentEip } from '../../blockers/present-eip.ts';
import type { AddressResource, AddressTexts } from '../../world/address-objects.ts';
import { claimantOfObject } from '../../world/address-objects.ts';
import { keysOf } from '../../engine/domain.ts';
import type { NatRule, NatRuleResource, HeldEip } from '../../world/nat-rules.ts';
import { eipKindOf, eipOfRule, eipResourceOf, annotatedEip, heldByRule } from '../../world/nat-rules.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { ConditionOutput, PatchOutput } from '../output.ts';
import type { SubnetProblem } from '../subnet/validity/subnet-acceptance.ts';
import { commandText } from '../../text/command-text.ts';

const CONFLICT = 'AddressConflict';
const ACCEPTED = 'Accepted';

interface EipAddresses extends AddressTexts {
  readonly subnet: string;
}

/** The Subnet and the addresses of an EIP; key `<resource>/<name>`. A projection, so that other fields of the EIP run no rule. */
const eipAddresses: Query<EipAddresses | undefined> = defineQuery('eip-addresses', (world, key) => {
  const at = key.indexOf('/');
  const eip = world.addressObject(key.slice(0, at) as AddressResource, key.slice(at + 1));
  return eip?.held === undefined ? undefined : { subnet: eip.subnet, ...eip.held };
});

/** The rule of a kind of NAT rules. */
export function natRuleAnnotations(resource: NatRuleResource): Rule {
  return {
    name: `${resource}-mark`,
    over: (world) => keysOf(world.natRules[resource]),
    run: (world, name) => {
      const rule = world.natRules[resource].get(name);
      if (rule === undefined) return [];
      // The rule for its rows reports what keeps it from taking effect.
      const accepted = isOfOvn(resource) ? [] : ([ACCEPTED] as const);
      const eip = eipOfRule(rule);
      const held = heldByRule(rule);
      const addresses = world.ask(eipAddresses, `${eipResourceOf(resource)}/${eip}`);
      const patch = { kind: 'patch', resource, key: name, uid: rule.metadata.uid } as const;
      // The annotation and the labels name the present EIP until its address is translated no longer.
      if (world.ask(presentEip, `${resource}/${name}`) !== '') return [{ ...patch, withoutConditions: [CONFLICT] }];
      if (world.ask(isLateForEip, `${resource}/${name}`)) {
        const notAccepted: ConditionOutput = { type: ACCEPTED, status: 'False', ...eipTerminating(resource, rule), event: 'Warning' };
        const conditions = isOfOvn(resource) ? [] : [notAccepted];
        return [{ ...patch, ...withoutAddress(resource, rule, ''), conditions, withoutConditions: [CONFLICT] }];
      }
      if (addresses === undefined) {
        const conflict = held === undefined ? undefined : conflictOf(world, resource, name, held);
        const conditions = conflict === undefined ? [] : [conflict];
        return [{ ...patch, ...withoutAddress(resource, rule, eip), conditions, withoutConditions: [CONFLICT, ...accepted] }];
      }
      return [
        {
          ...patch,
          withoutConditions: [CONFLICT, ...accepted],
          labels: addressLabels(resource, addresses),
          annotations: { [annotationKey.vpcEip]: eip },
        },
      ];
    },
  };
}

function isOfOvn(resource: NatRuleResource): boolean {
  return eipResourceOf(resource) === 'ovn-eips';
}

/** The message of a NAT rule that names an EIP that is being deleted. */
export function eipTerminating(resource: NatRuleResource, rule: Pick<NatRule, 'metadata' | 'spec'>): SubnetProblem {
  const eips = traitsOf(eipResourceOf(resource));
  const value = eipOfRule(rule);
  const { message } = findingOf(
    { kind: traitsOf(resource).kind, name: rule.metadata.name },
    {
      code: 'EipTerminating',
      field: resource.startsWith('ovn-') ? 'spec.ovnEip' : 'spec.eip',
      value,
      problem: `names an ${eips.kind} that is being deleted`,
      rule: `such an ${eips.kind} accepts no new rule; ${commandText`kubectl describe ${eips.plural}.${eips.group} ${value}`}`,
    },
  );
  return { reason: 'EipTerminating', message };
}

/** The conflict of an address that the NAT rule holds alone. An existing EIP reports it itself. */
function conflictOf(
  world: World,
  resource: NatRuleResource,
  name: string,
  { eip, subnet, addresses }: HeldEip,
): ConditionOutput | undefined {
  const others = world.addressConflicts.get(claimantOfObject(eipKindOf(resource), eip)) ?? [];
  if (others.length === 0) return undefined;
  const { kind } = traitsOf(resource);
  const eipKind = eipKindOf(resource);
  const message =
    `${kind} ${name}: address ${addresses.join(',')} of Subnet ${subnet}, which ${eipKind} ${eip} had, is also held by ` +
    `${others.join(', ')}; delete one of them; ${commandText`kubectl describe ${traitsOf(resource).plural}.${traitsOf(resource).group} ${name}`}`;
  return { type: CONFLICT, status: 'True', reason: 'HeldTwice', message, event: 'Warning' };
}

/**
 * The annotation and labels of a NAT rule that its EIP gives no address: the EIP does not exist, has none, or accepts no new NAT rule. The
 * address of an EIP that it named before is released.
 * @param eip the value of the annotation
 */
function withoutAddress(resource: NatRuleResource, rule: NatRule, eip: string): Pick<PatchOutput, 'annotations' | 'labels'> {
  const annotations = { [annotationKey.vpcEip]: eip };
  if ((annotatedEip(rule) ?? eip) === eip) return { annotations };
  const labels = Object.keys(addressLabels(resource, { subnet: '', v4: '', v6: '', mac: '' }));
  return { annotations, labels: Object.fromEntries(labels.map((label) => [label, null])) };
}

function addressLabels(resource: NatRuleResource, { subnet, v4, v6 }: EipAddresses): Readonly<Record<string, string>> {
  const v6Label = resource.startsWith('ovn-') ? { [labelKey.eipV6]: addressLabelValue(v6) } : {};
  return { [labelKey.subnet]: subnet, [labelKey.eipV4]: v4, ...v6Label };
}
