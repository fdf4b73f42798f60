/**
 * What the port of a pod may have if the setting `tenancy` is `namespaced`: port security, frames for its own addresses, further addresses
 * of its Subnet that no other object has, and the router and DHCP server of its Subnet. What a port got before the setting stays while its
 * pod runs (its row proves it) and is reported; an address of another object never stays.
 */
import type { Reason } from '../../../api/reasons.ts';
import { portVipsIn } from '../../../api/pod/pod-port-validation.ts';
import { kilnAnnotation, podAnnotation } from '../../../api/well-known.ts';
import type { PodAnnotationSuffix } from '../../../api/well-known.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf } from '../interface/pod-interface.ts';
import { isObservedAsPods } from '../interface/existing-port.ts';
import { DHCP_FIELD, DHCP_SUFFIX, dhcpProblems } from './port-dhcp-tenancy.ts';
import { vipProblem } from './port-vip-tenancy.ts';
import { commandText } from '../../../text/command-text.ts';

/** A part of an annotation that the port may not have. */
export interface ExcludedPortValue {
  readonly reason: Extract<Reason, 'PortNotAllowed'>;
  /** Key of the annotation. */
  readonly key: string;
  readonly message: string;
}

interface Allowances {
  readonly securityOff: boolean;
  readonly layer2Forward: boolean;
}

const NONE: Allowances = { securityOff: false, layer2Forward: false };

/** What a Subnet's annotations allow its ports. */
const allowancesOf: Query<Allowances> = defineQuery('subnet-port-allowances', (world, name) => {
  const annotations = world.ask(subnetIntent, name)?.metadata.annotations;
  if (annotations === undefined) return NONE;
  const says = (key: string): boolean => annotations[key]?.trim() === 'true';
  return { securityOff: says(kilnAnnotation.allowPortSecurityOff), layer2Forward: says(kilnAnnotation.allowLayer2Forward) };
});

/** What an interface requests for its port in a Subnet and may not have. */
export function excludedPortValues(world: World, nic: PodInterface, subnet: string): readonly ExcludedPortValue[] {
  if (world.settings.tenancy === 'open' || !nic.isOvn) return [];
  const allowed = world.ask(allowancesOf, subnet);
  const excluded: ExcludedPortValue[] = [];
  const exclude = (suffix: PodAnnotationSuffix, value: string, problem: string, rule: string): void => {
    const key = podAnnotation(nic.provider, suffix);
    const message = `Pod ${nic.pod.key}: metadata.annotations[${key}] "${shown(value)}" ${problem}; ${rule}`;
    excluded.push({ reason: 'PortNotAllowed', key, message });
  };
  const unless = (annotation: string): string =>
    `take it out, or have an administrator annotate the Subnet with ${annotation}=true: ${commandText`kubectl annotate subnet ${subnet} ${annotation}=true`}`;
  if (annotationOf(nic, 'port_security') === 'false' && !allowed.securityOff)
    exclude(
      'port_security',
      'false',
      `is not allowed in Subnet ${subnet}: its pods send from addresses of their own alone`,
      unless(kilnAnnotation.allowPortSecurityOff),
    );
  if (annotationOf(nic, 'layer2_forward') === 'true' && !allowed.layer2Forward)
    exclude(
      'layer2_forward',
      'true',
      `is not allowed in Subnet ${subnet}: its ports take frames for addresses of their own alone`,
      unless(kilnAnnotation.allowLayer2Forward),
    );
  for (const item of portVipsIn(annotationOf(nic, 'port_vips'))) {
    const why = vipProblem(world, nic, subnet, item);
    if (why !== undefined) exclude('port_vips', item, why.problem, why.rule);
  }
  for (const protocol of ['IPv4', 'IPv6'] as const)
    for (const { item, problem } of dhcpProblems(world, nic, subnet, protocol))
      exclude(
        DHCP_SUFFIX[protocol],
        item,
        problem,
        `leave it out; for all ports an administrator writes it into ${DHCP_FIELD[protocol]}: ${commandText`kubectl edit subnet ${subnet}`}`,
      );
  return excluded;
}

function shown(value: string): string {
  return value.length <= 120 ? value : `${value.slice(0, 120)}…`;
}

/** Whether the port may send from its own addresses only. */
export function isSecured(world: World, nic: PodInterface, subnet: string): boolean {
  const value = annotationOf(nic, 'port_security');
  if (world.settings.tenancy === 'open') return value === 'true';
  if (value !== 'false') return true;
  return (
    !world.ask(allowancesOf, subnet).securityOff &&
    !(isObservedAsPods(world, nic.row, nic) && isEmpty(world.rows.column(nic.row, 'port_security')))
  );
}

/** Whether the port receives frames for unknown addresses. */
export function forwardsLayer2(world: World, nic: PodInterface, subnet: string): boolean {
  if (annotationOf(nic, 'layer2_forward') !== 'true') return false;
  if (world.settings.tenancy === 'open' || world.ask(allowancesOf, subnet).layer2Forward) return true;
  const portAddresses = isObservedAsPods(world, nic.row, nic) ? world.rows.column(nic.row, 'addresses') : undefined;
  return portAddresses instanceof Set && portAddresses.has('unknown');
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (value instanceof Set && value.size === 0);
}
