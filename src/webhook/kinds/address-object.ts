/** Judges the creation and change of a Vip or an EIP. A Subnet that does not exist yet is no error: the object waits for it. */
import type { Finding } from '../../api/validation/finding.ts';
import { iptablesEipFindings, ovnEipFindings, vipFindings } from '../../api/validation/address-request-validation.ts';
import type { IptablesEIP } from '../../api/kinds/iptables-eip.ts';
import type { OvnEip } from '../../api/kinds/ovn-eip.ts';
import type { Vip } from '../../api/kinds/vip.ts';
import { addressRequestOf, changeProblem, objectAddressMessage, objectSubnetMessage } from '../../compile/vip-eip/address-object.ts';
import { vipExclusion } from '../../compile/vip-eip/vip.ts';
import { leaseProblem } from '../../compile/lease.ts';
import type { Exclusion } from '../../compile/pod/tenancy/tenancy.ts';
import { subnetTerminating, isClosed } from '../../compile/subnet/validity/subnet-ready.ts';
import type { AddressObject } from '../../world/address-objects.ts';
import { iptablesEipAddresses, ovnEipAddresses, vipAddresses } from '../../world/address-objects.ts';
import type { Observed, Opinion } from '../protocol/admission-result.ts';
import { forbidden, invalid, newOnes } from '../protocol/admission-result.ts';
import { takenByName } from './taken-addresses.ts';

interface Judged {
  readonly object: AddressObject;
  readonly findings: readonly Finding[];
  readonly exclusion?: Exclusion | undefined;
}

type Judge<T> = (object: T, observed: Observed) => Judged;

const ofVip: Judge<Vip> = (vip, { world, complete }) => {
  const object = vipAddresses(vip);
  return {
    object,
    findings: vipFindings(vip.metadata.name, vip.spec),
    exclusion: complete ? vipExclusion(world, object, vip.spec.namespace ?? '') : undefined,
  };
};
const ofOvnEip: Judge<OvnEip> = (eip, { world }) => ({
  object: ovnEipAddresses(eip, world.settings),
  findings: ovnEipFindings(eip.metadata.name, eip.spec),
});
const ofIptablesEip: Judge<IptablesEIP> = (eip) => ({
  object: iptablesEipAddresses(eip),
  findings: iptablesEipFindings(eip.metadata.name, eip.spec),
});

function created<T>(judge: Judge<T>): (object: T, observed: Observed) => Opinion {
  return (given, observed) => {
    const judged = judge(given, observed);
    const { object, findings } = judged;
    const { world, complete } = observed;
    const subnet = complete ? world.subnets.get(object.subnet) : undefined;
    const waits = complete && subnet === undefined && object.subnet !== '';
    const going = complete && world.ask(isClosed, object.subnet) ? terminating(object) : undefined;
    const sound = findings.length === 0 && subnet !== undefined && going === undefined && judged.exclusion === undefined;
    return {
      objections: [
        ...findings.map(invalid),
        ...leaseObjection(object),
        ...(going === undefined ? [] : [going]),
        ...excluded(judged),
        ...(sound ? takenByName(observed, addressRequestOf(object), 'spec', (sentence) => objectAddressMessage(object, sentence)) : []),
      ],
      warnings: waits ? [`${object.kind} ${object.name}: Subnet "${object.subnet}" does not exist yet; it is waited for`] : [],
    };
  };
}

function changed<T>(judge: Judge<T>): (before: T, after: T, observed: Observed) => Opinion {
  return (before, after, observed) => {
    const [old, now] = [judge(before, observed), judge(after, observed)];
    const moves = ({ object }: Judged): Opinion['objections'] => {
      const message = changeProblem(object);
      return message === undefined ? [] : [invalid({ code: 'Immutable', field: 'spec', message })];
    };
    return {
      objections: [
        ...newOnes(now.findings, old.findings).map(invalid),
        ...newOnes(moves(now), moves(old)),
        ...newOnes(excluded(now), excluded(old)),
        ...newOnes(leaseObjection(now.object), leaseObjection(old.object)),
      ],
      warnings: [],
    };
  };
}

function excluded({ object, findings, exclusion }: Judged): Opinion['objections'] {
  if (exclusion === undefined || findings.length > 0) return [];
  return [forbidden({ ...exclusion, message: objectAddressMessage(object, exclusion.message) }, 'spec')];
}

function terminating(object: AddressObject): Opinion['objections'][number] {
  const problem = subnetTerminating(object.subnet);
  return forbidden({ ...problem, message: objectSubnetMessage(object, problem.message) }, 'spec');
}

function leaseObjection({ resource, name, annotations }: AddressObject): Opinion['objections'] {
  const message = leaseProblem(resource, name, annotations);
  return message === undefined ? [] : [invalid({ code: 'LeaseInvalid', field: 'metadata.annotations', message })];
}

export const [vipCreated, vipChanged] = [created(ofVip), changed(ofVip)];
export const [ovnEipCreated, ovnEipChanged] = [created(ofOvnEip), changed(ofOvnEip)];
export const [iptablesEipCreated, iptablesEipChanged] = [created(ofIptablesEip), changed(ofIptablesEip)];
