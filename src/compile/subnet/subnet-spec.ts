/** Defaults and corrections of a Subnet's spec, and the report on fields that are not implemented. */
import type { ConditionType } from '../../api/condition-types.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import { subnetDefaults } from '../../api/defaults/subnet-defaults.ts';
import { correctedFields } from '../../api/validation/subnet-corrections.ts';
import { hostBitsFinding } from '../../api/validation/subnet-host-bits.ts';
import type { SubnetSpec } from '../../api/kinds/subnet.ts';
import { conditionOf } from '../../world/conditions.ts';
import { keysOf } from '../../engine/domain.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { findingsText } from '../findings-text.ts';
import type { ConditionOutput, Json } from '../output.ts';
import { unimplementedFieldOutputs } from '../unimplemented-fields.ts';
import { isExternalSubnet } from './validity/external-network.ts';
import { subnetAcceptance } from './validity/subnet-acceptance.ts';

/**
 * The condition is written before a field is corrected, and stays until the next edit: it keeps the original value longer than the Event.
 */
const CORRECTED = 'Corrected' satisfies ConditionType;

export const subnetSpecDefaults: Rule = {
  name: 'subnet-spec',
  // Also a Subnet that is being deleted: while it has blockers, the gateway of its spec counts for its status.
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const subnet = world.ask(subnetIntent, name);
    if (subnet === undefined) return [];
    const {
      spec,
      applied,
      metadata: { uid },
    } = subnet;
    // Its spec follows the other program's switch.
    if (world.settings.enableExternalVpc && isExternalSubnet(subnet)) return [];
    const patch = { kind: 'patch', resource: 'subnets', key: name, uid } as const;
    const reported = world.ask(reportedCorrection, name);
    const fields = subnetDefaults({ name, spec }, world.settings, applied);
    const asSpec = fields as unknown as Readonly<Record<string, Json>>;
    const hostBits = hostBitsFinding({ name, spec });
    const corrected = [...(hostBits === undefined ? [] : [hostBits]), ...correctedFields({ name, spec }, fields)];
    const [first] = corrected;
    if (first === undefined) {
      const over = reported?.isEdited === true ? ([CORRECTED] as const) : [];
      return Object.keys(fields).length + over.length === 0 ? [] : [{ ...patch, spec: asSpec, withoutConditions: over }];
    }
    const message = findingsText(corrected);
    const conditions: ConditionOutput[] = [{ type: CORRECTED, status: 'True', reason: first.code, message, event: 'Warning' }];
    // The report comes first: after the correction the spec no longer has the original value.
    return [{ ...patch, conditions, ...(reported?.isOfThis === true && reported.message === message && { spec: asSpec }) }];
  },
};

interface ReportedCorrection {
  readonly message: string;
  /** The report is about the present spec. */
  readonly isOfThis: boolean;
  /** The spec has changed since, by more than the correction. */
  readonly isEdited: boolean;
}

/** A query of its own, so that a status write does not validate the spec again. */
const reportedCorrection: Query<ReportedCorrection | undefined> = defineQuery('subnet-reported-correction', (world, name) => {
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
    return unimplementedFieldOutputs('subnets', name, subnet.metadata.uid, unimplementedSubnetFields(subnet.spec), isAccepted);
  },
};

/**
 * Fields that Kiln does not implement: multicast, egress gateways. Outgoing NAT is not among them: the node agent
 * implements it and reads the Subnet itself.
 */
export function unimplementedSubnetFields(spec: SubnetSpec): string[] {
  const isSet: Readonly<Record<string, boolean>> = {
    enableMulticastSnoop: spec.enableMulticastSnoop === true,
    enableExternalLBAddress: spec.enableExternalLBAddress === true,
    nodeNetwork: (spec.nodeNetwork ?? '') !== '',
  };
  return Object.keys(isSet).flatMap((field) => (isSet[field] === true ? [`spec.${field}`] : []));
}
