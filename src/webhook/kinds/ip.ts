/** Judges the creation and change of an IP object by a user: a request for an address, or an object restored from a backup. */
import { ipFindings, ipUpdateFindings } from '../../api/validation/ip-validation.ts';
import type { IP } from '../../api/kinds/ip.ts';
import { leaseProblem } from '../../compile/lease.ts';
import { withNext } from '../../compile/next-command.ts';
import { requestProblem, ipAddressRequest, ipAddressMessage, ipSubnetMessage } from '../../compile/ip/ip-request.ts';
import { subnetTerminating, isClosed } from '../../compile/subnet/validity/subnet-ready.ts';
import { isRequest, isReserved } from '../../world/claimants.ts';
import type { World } from '../../world/world.ts';
import { takenByName } from './taken-addresses.ts';
import type { Objection, Observed, Opinion } from '../protocol/admission-result.ts';
import { forbidden, invalid, newOnes } from '../protocol/admission-result.ts';

const WAITED_FOR = 'WaitingForSubnet';

export function ipCreated(ip: IP, observed: Observed): Opinion {
  const { world, complete } = observed;
  const own = ipFindings({ name: ip.metadata.name, spec: ip.spec }, complete ? subnetOf(world, ip) : undefined);
  const objections: Objection[] = leaseObjections(ip);
  const warnings: string[] = [];
  const asks = isReserved(ip) || isRequest(ip);
  const problem = complete && asks ? requestProblem(world, ip) : undefined;
  const going = subnetTerminating(ip.spec.subnet ?? '');
  if (complete && world.ask(isClosed, ip.spec.subnet ?? ''))
    objections.push(forbidden({ ...going, message: ipSubnetMessage(ip, going.message) }, 'spec.subnet'));
  else if (problem?.reason === WAITED_FOR && (ip.spec.subnet ?? '') !== '') warnings.push(withNext(problem.message, problem.next));
  else if (problem !== undefined) objections.push(invalid({ code: problem.reason, field: problem.field, message: problem.message }));
  if (objections.length === 0 && warnings.length === 0) {
    objections.push(...own.filter(({ code, value }) => code !== 'IPSubnetMissing' || value === '').map(invalid));
    if (objections.length === 0 && complete && asks)
      objections.push(
        ...takenByName(observed, ipAddressRequest(world, ip), 'spec.ipAddress', (sentence) => ipAddressMessage(ip, sentence)),
      );
  }
  return { objections, warnings };
}

export function ipChanged(before: IP, after: IP, { world, complete }: Observed): Opinion {
  const findings = ({ metadata: { name }, spec }: IP): ReturnType<typeof ipFindings> =>
    ipFindings({ name, spec }, complete ? subnetOf(world, after) : undefined).filter(({ code }) => code !== 'IPSubnetMissing');
  const [old, now] = [
    { name: before.metadata.name, spec: before.spec },
    { name: after.metadata.name, spec: after.spec },
  ];
  return {
    objections: [
      ...[...ipUpdateFindings(old, now), ...newOnes(findings(after), findings(before))].map(invalid),
      ...newOnes(leaseObjections(after), leaseObjections(before)),
    ],
    warnings: [],
  };
}

function subnetOf(world: World, { spec }: IP): Parameters<typeof ipFindings>[1] {
  const subnet = world.subnets.get(spec.subnet ?? '');
  return subnet === undefined ? undefined : { name: subnet.metadata.name, spec: subnet.spec };
}

function leaseObjections(ip: IP): Objection[] {
  const message = leaseProblem('ips', ip.metadata.name, ip.metadata.annotations ?? {});
  return message === undefined ? [] : [invalid({ code: 'LeaseInvalid', field: 'metadata.annotations', message })];
}
