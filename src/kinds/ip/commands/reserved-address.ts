/** A reserved address: its IP object, whether the controller has filled it in, and the message of its condition. */
import type { IP } from '../../../api/kinds/ip.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import type { Resource } from '../../../kube/resource.ts';
import { conditionOf } from '../../../world/conditions.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { OutputFormat } from '../../../cli/output/object-output.ts';
import { objectText } from '../../../cli/output/object-output.ts';
import type { Output } from '../../../cli/output/terminal.ts';

export const IPS: Resource = traitsOf('ips');
export const SUBNETS: Resource = traitsOf('subnets');

export function addressText(ip: IP): string {
  const { v4IpAddress = '', v6IpAddress = '' } = ip.spec;
  return [v4IpAddress, v6IpAddress].filter((text) => text !== '').join(',');
}

/** Whether the IP object has an address and a MAC from the controller. */
export function isFilled(ip: IP): boolean {
  return addressText(ip) !== '' && (ip.spec.macAddress ?? '') !== '';
}

export function addressOutput(format: OutputFormat, ip: IP): Output {
  const { v4IpAddress = '', v6IpAddress = '', macAddress = '', subnet = '', podName = '', namespace = '' } = ip.spec;
  return objectText(format, ip, 'ip.kubeovn.io', [
    { header: 'NAME', value: ip.metadata.name },
    { header: 'V4IP', value: v4IpAddress },
    { header: 'V6IP', value: v6IpAddress },
    { header: 'MAC', value: macAddress },
    { header: 'SUBNET', value: subnet },
    { header: 'LEASE', value: ip.metadata.annotations?.[kilnAnnotation.lease] ?? '' },
    { header: 'FOR', value: `${namespace}/${podName}`, wide: true },
    { header: 'STATE', value: conditionOf('ips', ip, 'Idle')?.message ?? '', wide: true },
  ]);
}
