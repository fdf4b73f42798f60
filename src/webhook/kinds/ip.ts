/** Validates the creation and change of an IP object by a user: a request for an address, or an object restored from a backup. */
import { ipFindings, ipUpdateFindings } from '../../api/validation/ip-validation.ts';
import type { IP } from '../../api/kinds/ip.ts';
import { leaseProblem } from '../../compile/address-lease.ts';
import { withNext } from '../../compile/next-command.ts';
import { requestProblem, ipAddressRequest, ipAddressMessage, ipSubnetMessage } from '../../compile/ip/ip-request.ts';
import { subnetTerminating, isClosed } from '../../compile/subnet/validity/subnet-ready.ts';
import { isRequest, isReserved } from '../../world/claimants.ts';
import type { World } from '../../world/world.ts';
import { takenByName } from './taken-addresses.ts';
import type { Denial, Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { forbidden, invalid, newFindings } from '../protocol/admission-result.ts';

const WAITING_FOR_SUBNET = 'WaitingForSubnet';

export function validateIpCreate(ip: IP, observed: Observed): AdmissionResult {
  const { world, complete } = observed;
  const own = ipFindings({ name: ip.metadata.name, spec: ip.spec }, complete ? subnetOf(world, ip) : undefined);
  const denials: Denial[] = leaseDenials(ip);
  const warnings: string[] = [];
  const requestsAddress = isReserved(ip) || isRequest(ip);
  const problem = complete && requestsAddress ? requestProblem(world, ip) : undefined;
  const terminating = subnetTerminating(ip.spec.subnet ?? '');
  if (complete && world.ask(isClosed, ip.spec.subnet ?? ''))
    denials.push(forbidden({ ...terminating, message: ipSubnetMessage(ip, terminating.message) }, 'spec.subnet'));
  else if (problem?.reason === WAITING_FOR_SUBNET && (ip.spec.subnet ?? '') !== '') warnings.push(withNext(problem.message, problem.next));
  else if (problem !== undefined) denials.push(invalid({ code: problem.reason, field: problem.field, message: problem.message }));
  if (denials.length === 0 && warnings.length === 0) {
    denials.push(...own.filter(({ code, value }) => code !== 'IPSubnetMissing' || value === '').map(invalid));
    if (denials.length === 0 && complete && requestsAddress)
      denials.push(...takenByName(observed, ipAddressRequest(world, ip), 'spec.ipAddress', (sentence) => ipAddressMessage(ip, sentence)));
  }
  return { denials, warnings };
}

export function validateIpUpdate(before: IP, after: IP, { world, complete }: Observed): AdmissionResult {
  const findings = ({ metadata: { name }, spec }: IP): ReturnType<typeof ipFindings> =>
    ipFindings({ name, spec }, complete ? subnetOf(world, after) : undefined).filter(({ code }) => code !== 'IPSubnetMissing');
  const [old, now] = [
    { name: before.metadata.name, spec: before.spec },
    { name: after.metadata.name, spec: after.spec },
  ];
  return {
    denials: [
      ...[...ipUpdateFindings(old, now), ...newFindings(findings(after), findings(before))].map(invalid),
      ...newFindings(leaseDenials(after), leaseDenials(before)),
    ],
    warnings: [],
  };
}

function subnetOf(world: World, { spec }: IP): Parameters<typeof ipFindings>[1] {
  const subnet = world.subnets.get(spec.subnet ?? '');
  return subnet === undefined ? undefined : { name: subnet.metadata.name, spec: subnet.spec };
}

function leaseDenials(ip: IP): Denial[] {
  const message = leaseProblem('ips', ip.metadata.name, ip.metadata.annotations ?? {});
  return message === undefined ? [] : [invalid({ code: 'LeaseInvalid', field: 'metadata.annotations', message })];
}
