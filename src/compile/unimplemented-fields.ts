/** Fields that Kiln does not implement: reported on the object, never ignored silently. */
import type { IPSpec } from '../api/kinds/ip.ts';
import type { VipSpec } from '../api/kinds/vip.ts';
import { conditionOf } from '../world/conditions.ts';
import { keysOf } from '../world/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { Rule } from './compiler.ts';
import { findingsText } from './findings-text.ts';
import type { ReportOutput, Output } from './output.ts';

const UNIMPLEMENTED = 'NotCarriedOut';

/** Fields that Kube-OVN no longer uses either: the user who sets them expects more of the object than one address. */
export const unimplementedAddressFields: readonly Rule[] = [
  {
    name: 'ip-unsupported',
    // Very many IP objects have none of the fields. The domain has only those that do, and those with the condition.
    over: (world) =>
      keysOf(world.ips, (ip) => unimplementedIpFields(ip.spec).length > 0 || conditionOf('ips', ip, UNIMPLEMENTED) !== undefined),
    run: (world, name) => {
      const ip = world.ips.get(name);
      if (ip === undefined) return [];
      return unimplementedFieldOutputs('ips', name, ip.metadata.uid, unimplementedIpFields(ip.spec));
    },
  },
  {
    name: 'vip-unsupported',
    over: (world) => keysOf(world.vips),
    run: (world, name) => {
      const vip = world.vips.get(name);
      if (vip === undefined) return [];
      return unimplementedFieldOutputs('vips', name, vip.metadata.uid, unimplementedVipFields(vip.spec));
    },
  },
];

function unimplementedIpFields({ attachSubnets, attachIps, attachMacs, containerID = '' }: IPSpec): string[] {
  const lists = Object.entries({ attachSubnets, attachIps, attachMacs }).flatMap(([field, list]) =>
    (list ?? []).length > 0 ? [`spec.${field}`] : [],
  );
  return containerID === '' ? lists : [...lists, 'spec.containerID'];
}

function unimplementedVipFields({ attachSubnets }: VipSpec): string[] {
  return (attachSubnets ?? []).length > 0 ? ['spec.attachSubnets'] : [];
}

/**
 * An Event for each field, and a condition as long as one is set: the API server drops an Event after an hour.
 * @param isAccepted whether the rest of the object is in effect
 */
export function unimplementedFieldOutputs(
  resource: ResourceName,
  key: string,
  uid: string,
  fields: readonly string[],
  isAccepted: () => boolean = () => true,
): readonly Output[] {
  const patch = { kind: 'patch', resource, key, uid } as const;
  const reports = fields.map((field) => unimplementedFieldReport(resource, key, uid, field));
  if (reports.length === 0) return [{ ...patch, withoutConditions: [UNIMPLEMENTED] }];
  const rest = isAccepted()
    ? `All else of the ${traitsOf(resource).kind} is in effect`
    : 'All else waits: condition Accepted says for what';
  const message = `${findingsText(reports)}. ${rest}`;
  return [...reports, { ...patch, conditions: [{ type: UNIMPLEMENTED, status: 'True', reason: 'UnsupportedField', message }] }];
}

function unimplementedFieldReport(resource: ResourceName, key: string, uid: string, field: string): ReportOutput {
  return {
    kind: 'report',
    resource,
    key,
    uid,
    type: 'Warning',
    reason: 'UnsupportedField',
    message: unimplementedFieldSentence(resource, key, field),
  };
}

export function unimplementedFieldSentence(resource: ResourceName, key: string, field: string): string {
  const { kind } = traitsOf(resource);
  return `${kind} ${key}: ${field} is set, but this version does not implement it`;
}
