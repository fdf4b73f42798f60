/**
 * What an object asks and Kiln does not carry out: said on the object, never passed over in silence.
 */
import type { IPSpec } from '../api/ip.ts';
import type { VipSpec } from '../api/vip.ts';
import { keysOf } from '../world/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { Rule } from './compiler.ts';
import type { NoticeOutput } from './output.ts';

/** Fields that Kube-OVN does not use any more either: whoever sets them expects more of the object than one address. */
export const unsupportedAddressFields: readonly Rule[] = [
  {
    name: 'ip-unsupported',
    over: (world) => keysOf(world.ips, ({ spec }) => unsupportedIpFields(spec).length > 0),
    run: (world, name) => {
      const ip = world.ips.get(name);
      if (ip === undefined) return [];
      return unsupportedIpFields(ip.spec).map((field) => unsupportedNotice('ips', name, ip.metadata.uid, field));
    },
  },
  {
    name: 'vip-unsupported',
    over: (world) => keysOf(world.vips, ({ spec }) => unsupportedVipFields(spec).length > 0),
    run: (world, name) => {
      const vip = world.vips.get(name);
      if (vip === undefined) return [];
      return unsupportedVipFields(vip.spec).map((field) => unsupportedNotice('vips', name, vip.metadata.uid, field));
    },
  },
];

function unsupportedIpFields({ attachSubnets, attachIps, attachMacs, containerID = '' }: IPSpec): string[] {
  const lists = Object.entries({ attachSubnets, attachIps, attachMacs }).flatMap(([field, list]) =>
    (list ?? []).length > 0 ? [`spec.${field}`] : [],
  );
  return containerID === '' ? lists : [...lists, 'spec.containerID'];
}

function unsupportedVipFields({ attachSubnets }: VipSpec): string[] {
  return (attachSubnets ?? []).length > 0 ? ['spec.attachSubnets'] : [];
}

export function unsupportedNotice(resource: ResourceName, key: string, uid: string, field: string): NoticeOutput {
  return {
    kind: 'notice',
    resource,
    key,
    uid,
    type: 'Warning',
    reason: 'UnsupportedField',
    message: unsupportedSentence(resource, key, field),
  };
}

export function unsupportedSentence(resource: ResourceName, key: string, field: string): string {
  const { kind } = traitsOf(resource);
  return `${kind} ${key}: ${field} is set, but this version does not carry it out; all else of the ${kind} is in effect`;
}
