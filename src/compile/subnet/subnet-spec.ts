/**
 * What a Subnet's spec gets by default, and what of it is not implemented.
 */
import type { ConditionType } from '../../api/condition-types.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import { subnetDefaults } from '../../api/defaults/subnet-defaults.ts';
import { correctedFields } from '../../api/validation/subnet-corrections.ts';
import { hostBitsFinding } from '../../api/validation/host-bits.ts';
import type { SubnetSpec } from '../../api/kinds/subnet.ts';
import { conditionOf } from '../../world/conditions.ts';
import { keysOf } from '../../world/domain.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import { findingsText } from '../left-out.ts';
import type { ConditionOutput, Json } from '../output.ts';
import { unsupportedOutputs } from '../unsupported.ts';
import { subnetAcceptance } from './judging/subnet-acceptance.ts';

/** There from before a field is put right until the spec is edited next: the Event is gone sooner, and then nobody could say what was written. */
const CORRECTED = 'Corrected' satisfies ConditionType;

export const subnetSpecDefaults: Rule = {
  name: 'subnet-spec',
  // One that is being deleted too: while somebody is in it, its spec says by which gateway its addresses are counted.
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const subnet = world.ask(subnetIntent, name);
    if (subnet === undefined) return [];
    const {
      spec,
      applied,
      metadata: { uid },
    } = subnet;
    const patch = { kind: 'patch', resource: 'subnets', key: name, uid } as const;
    const said = world.ask(correctionSaid, name);
    const fields = subnetDefaults({ name, spec }, world.settings, applied);
    const asSpec = fields as unknown as Readonly<Record<string, Json>>;
    const hostBits = hostBitsFinding({ name, spec });
    const corrected = [...(hostBits === undefined ? [] : [hostBits]), ...correctedFields({ name, spec }, fields)];
    const [first] = corrected;
    if (first === undefined) {
      const over = said?.isEdited === true ? ([CORRECTED] as const) : [];
      return Object.keys(fields).length + over.length === 0 ? [] : [{ ...patch, spec: asSpec, withoutConditions: over }];
    }
    const message = findingsText(corrected);
    const conditions: ConditionOutput[] = [{ type: CORRECTED, status: 'True', reason: first.code, message, event: 'Warning' }];
    // Said first, and then done: what the value was cannot be read from the spec any more.
    return [{ ...patch, conditions, ...(said?.isOfThis === true && said.message === message && { spec: asSpec }) }];
  },
};

interface CorrectionSaid {
  readonly message: string;
  /** The spec is still the one that it was said of. */
  readonly isOfThis: boolean;
  /** More of the spec changed since than what was put right. */
  readonly isEdited: boolean;
}

/** A query of its own, that the spec is not judged anew whenever the status is written. */
const correctionSaid: Query<CorrectionSaid | undefined> = defineQuery('subnet-correction-said', (world, name) => {
  const subnet = world.subnets.get(name);
  const held = subnet === undefined ? undefined : conditionOf('subnets', subnet, CORRECTED);
  if (subnet === undefined || held === undefined) return undefined;
  const { generation = 0 } = subnet.metadata;
  const { observedGeneration = generation, message = '' } = held;
  return { message, isOfThis: generation === observedGeneration, isEdited: generation > observedGeneration + 1 };
});

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

/**
 * Fields that ask for something Kiln does not do: underlay, addresses that move, egress gateways. Outgoing NAT is the work of a node agent, which reads
 * it in the Subnet itself.
 */
export function unsupportedSubnetFields(spec: SubnetSpec): string[] {
  const asked: Readonly<Record<string, boolean>> = {
    vlan: (spec.vlan ?? '') !== '',
    u2oInterconnection: spec.u2oInterconnection === true,
    u2oInterconnectionIP: (spec.u2oInterconnectionIP ?? '') !== '',
    'u2oFeatures.overlayOnlyRouting': spec.u2oFeatures?.overlayOnlyRouting === true,
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
