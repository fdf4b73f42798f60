/**
 * What a Subnet's spec gets by default, and what of it is not carried out.
 */
import { isTerminating } from '../../api/meta.ts';
import { subnetDefaults } from '../../api/subnet-defaults.ts';
import { correctedFields } from '../../api/subnet-corrections.ts';
import { hostBitsFinding } from '../../api/host-bits.ts';
import type { SubnetSpec } from '../../api/subnet.ts';
import { keysOf } from '../../world/domain.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Rule } from '../compiler.ts';
import { findingsText } from '../left-out.ts';
import type { Json } from '../output.ts';
import { unsupportedOutputs } from '../unsupported.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';

export const subnetSpecDefaults: Rule = {
  name: 'subnet-spec',
  // One that is being deleted too: while somebody is in it, its spec says by which gateway its addresses are counted.
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const subnet = world.ask(subnetIntent, name);
    if (subnet === undefined) return [];
    const {
      spec,
      metadata: { uid },
    } = subnet;
    const fields = subnetDefaults({ name, spec }, world.settings);
    if (Object.keys(fields).length === 0) return [];
    // Once it is put right nothing is wrong: an Event, and no condition.
    const hostBits = hostBitsFinding({ name, spec });
    const corrected = [...(hostBits === undefined ? [] : [hostBits]), ...correctedFields({ name, spec }, fields)];
    const [first] = corrected;
    return [
      {
        kind: 'patch',
        resource: 'subnets',
        key: name,
        uid,
        spec: fields as unknown as Readonly<Record<string, Json>>,
        ...(first !== undefined && { event: { type: 'Warning', reason: first.code, message: findingsText(corrected) } as const }),
      },
    ];
  },
};

export const subnetUnsupported: Rule = {
  name: 'subnet-unsupported',
  over: (world) => keysOf(world.subnets, (subnet) => !isTerminating(subnet)),
  run: (world, name) => {
    const subnet = world.ask(subnetIntent, name);
    if (subnet === undefined) return [];
    const isAccepted = (): boolean => world.ask(subnetAcceptance, name).kind === 'accepted';
    return unsupportedOutputs('subnets', name, subnet.metadata.uid, unsupportedSubnetFields(subnet.spec), isAccepted);
  },
};

/** Fields that ask for something Kiln does not do: underlay, addresses that move, what the node's agent would do on the way out. */
export function unsupportedSubnetFields(spec: SubnetSpec): string[] {
  const asked: Readonly<Record<string, boolean>> = {
    vlan: (spec.vlan ?? '') !== '',
    u2oInterconnection: spec.u2oInterconnection === true,
    u2oInterconnectionIP: (spec.u2oInterconnectionIP ?? '') !== '',
    'u2oFeatures.overlayOnlyRouting': spec.u2oFeatures?.overlayOnlyRouting === true,
    natOutgoing: spec.natOutgoing === true,
    natOutgoingPolicyRules: (spec.natOutgoingPolicyRules ?? []).length > 0,
    externalEgressGateway: (spec.externalEgressGateway ?? '') !== '',
    policyRoutingPriority: (spec.policyRoutingPriority ?? 0) !== 0,
    policyRoutingTableID: (spec.policyRoutingTableID ?? 0) !== 0,
    vips: (spec.vips ?? []).length > 0,
    enableMulticastSnoop: spec.enableMulticastSnoop === true,
    enableExternalLBAddress: spec.enableExternalLBAddress === true,
    nodeNetwork: (spec.nodeNetwork ?? '') !== '',
  };
  return Object.keys(asked).flatMap((field) => (asked[field] === true ? [`spec.${field}`] : []));
}
