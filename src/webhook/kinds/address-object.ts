/** Validates the creation and change of a Vip or an EIP. A Subnet that does not exist yet is no error: the object waits for it. */
import type { Finding } from '../../api/validation/finding.ts';
import { iptablesEipFindings, ovnEipFindings, vipFindings } from '../../api/validation/vip-eip-validation.ts';
import type { IptablesEIP } from '../../api/kinds/iptables-eip.ts';
import type { OvnEip } from '../../api/kinds/ovn-eip.ts';
import type { Vip } from '../../api/kinds/vip.ts';
import { addressRequestOf, changeProblem, objectAddressMessage, objectSubnetMessage } from '../../compile/vip-eip/address-object.ts';
import { vipExclusion } from '../../compile/vip-eip/vip.ts';
import { leaseProblem } from '../../compile/address-lease.ts';
import type { Exclusion } from '../../compile/pod/tenancy/tenancy.ts';
import { subnetTerminating, isClosed } from '../../compile/subnet/validity/subnet-ready.ts';
import type { AddressObject } from '../../world/address-objects.ts';
import { iptablesEipAddresses } from '../../kinds/iptables-eip/table/iptables-eip-addresses.ts';
import { ovnEipAddresses } from '../../kinds/ovn-eip/table/ovn-eip-addresses.ts';
import { vipAddresses } from '../../kinds/vip/table/vip-addresses.ts';
import type { AdmissionResult, Denial, Observed } from '../protocol/admission-result.ts';
import { forbidden, invalid, newFindings } from '../protocol/admission-result.ts';
import { takenByName } from './taken-addresses.ts';

interface ObjectFindings {
  readonly object: AddressObject;
  readonly findings: readonly Finding[];
  readonly exclusion?: Exclusion | undefined;
}

type FindingsOf<T> = (object: T, observed: Observed) => ObjectFindings;

const ofVip: FindingsOf<Vip> = (vip, { world, complete }) => {
  const object = vipAddresses(vip);
  return {
    object,
    findings: vipFindings(vip.metadata.name, vip.spec),
    exclusion: complete ? vipExclusion(world, object, vip.spec.namespace ?? '') : undefined,
  };
};
const ofOvnEip: FindingsOf<OvnEip> = (eip, { world }) => ({
  object: ovnEipAddresses(eip, world.settings),
  findings: ovnEipFindings(eip.metadata.name, eip.spec),
});
const ofIptablesEip: FindingsOf<IptablesEIP> = (eip) => ({
  object: iptablesEipAddresses(eip),
  findings: iptablesEipFindings(eip.metadata.name, eip.spec),
});

function validatorOfCreate<T>(findingsOf: FindingsOf<T>): (object: T, observed: Observed) => AdmissionResult {
  return (given, observed) => {
    const found = findingsOf(given, observed);
    const { object, findings } = found;
    const { world, complete } = observed;
    const subnet = complete ? world.subnets.get(object.subnet) : undefined;
    const waits = complete && subnet === undefined && object.subnet !== '';
    const terminating = complete && world.ask(isClosed, object.subnet) ? subnetTerminatingDenial(object) : undefined;
    const sound = findings.length === 0 && subnet !== undefined && terminating === undefined && found.exclusion === undefined;
    return {
      denials: [
        ...findings.map(invalid),
        ...leaseDenials(object),
        ...(terminating === undefined ? [] : [terminating]),
        ...exclusionDenials(found),
        ...(sound ? takenByName(observed, addressRequestOf(object), 'spec', (sentence) => objectAddressMessage(object, sentence)) : []),
      ],
      warnings: waits ? [`${object.kind} ${object.name}: Subnet "${object.subnet}" does not exist yet; the object waits for it`] : [],
    };
  };
}

function validatorOfUpdate<T>(findingsOf: FindingsOf<T>): (before: T, after: T, observed: Observed) => AdmissionResult {
  return (before, after, observed) => {
    const [old, now] = [findingsOf(before, observed), findingsOf(after, observed)];
    const changeDenials = ({ object }: ObjectFindings): readonly Denial[] => {
      const message = changeProblem(object);
      return message === undefined ? [] : [invalid({ code: 'Immutable', field: 'spec', message })];
    };
    return {
      denials: [
        ...newFindings(now.findings, old.findings).map(invalid),
        ...newFindings(changeDenials(now), changeDenials(old)),
        ...newFindings(exclusionDenials(now), exclusionDenials(old)),
        ...newFindings(leaseDenials(now.object), leaseDenials(old.object)),
      ],
      warnings: [],
    };
  };
}

function exclusionDenials({ object, findings, exclusion }: ObjectFindings): readonly Denial[] {
  if (exclusion === undefined || findings.length > 0) return [];
  return [forbidden({ ...exclusion, message: objectAddressMessage(object, exclusion.message) }, 'spec')];
}

function subnetTerminatingDenial(object: AddressObject): Denial {
  const problem = subnetTerminating(object.subnet);
  return forbidden({ ...problem, message: objectSubnetMessage(object, problem.message) }, 'spec');
}

function leaseDenials({ resource, name, annotations }: AddressObject): readonly Denial[] {
  const message = leaseProblem(resource, name, annotations);
  return message === undefined ? [] : [invalid({ code: 'LeaseInvalid', field: 'metadata.annotations', message })];
}

export const [validateVipCreate, validateVipUpdate] = [validatorOfCreate(ofVip), validatorOfUpdate(ofVip)];
export const [validateOvnEipCreate, validateOvnEipUpdate] = [validatorOfCreate(ofOvnEip), validatorOfUpdate(ofOvnEip)];
export const [validateIptablesEipCreate, validateIptablesEipUpdate] = [validatorOfCreate(ofIptablesEip), validatorOfUpdate(ofIptablesEip)];
