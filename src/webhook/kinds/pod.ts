/** Validates the creation of a pod and the change of its annotations: their values must be readable and possible. */
import type { Reason } from '../../api/reasons.ts';
import type { Pod } from '../../api/kubernetes/core.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { podNetworkFindings } from '../../api/pod/pod-network-validation.ts';
import { podAnnotation } from '../../api/well-known.ts';
import { podNatDenials } from '../../compile/nat/pod-translation.ts';
import { bindingOf } from '../../compile/pod/address/pod-binding.ts';
import { portNameConflict } from '../../compile/pod/address/pod-address.ts';
import { podMessage } from '../../compile/pod/address/requested-values.ts';
import type { PodInterface } from '../../compile/pod/interface/pod-interface.ts';
import { interfacesOf, selectionsOf } from '../../compile/pod/interface/pod-interfaces.ts';
import { namedSubnet } from '../../compile/pod/address/pod-subnet.ts';
import { ineffectiveRequests } from '../../compile/pod/report/ineffective-requests.ts';
import type { PodView } from '../../compile/pod/view/pod-view.ts';
import { podViewOf } from '../../compile/pod/view/pod-view.ts';
import { excludedPortValues } from '../../compile/pod/tenancy/port-tenancy.ts';
import { subnetTerminating, isClosed } from '../../compile/subnet/validity/subnet-ready.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import { takenByName } from './taken-addresses.ts';
import type { Denial, Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { forbidden, invalid, newFindings, ALLOWED } from '../protocol/admission-result.ts';

const UNREADABLE: Reason = 'InvalidAnnotation';
/** Reasons for a pod that is valid, but requests what its namespace is not allowed. */
const NOT_ALLOWED: ReadonlySet<string> = new Set<Reason>(['NamespaceNotAdmitted', 'PortNotAllowed']);
const PERMANENT: ReadonlySet<string> = new Set([UNREADABLE, 'InvalidNetwork']);

export function validatePodCreate(pod: Pod, observed: Observed): AdmissionResult {
  const findings = findingsOf(pod);
  if (findings.length > 0) return { denials: findings.map(invalid), warnings: [] };
  const { world, complete } = observed;
  const view = complete ? podViewOf(world, pod) : undefined;
  if (view === undefined) return ALLOWED;
  const denials: Denial[] = [];
  const warnings: string[] = [];
  denials.push(...natDenials(world, view));
  const { interfaces, problem } = interfacesOf(world, view);
  if (problem !== undefined) {
    if (problem.reason === UNREADABLE)
      denials.push(invalid({ code: problem.reason, field: 'metadata.annotations', message: problem.message }));
    else warnings.push(problem.message);
  }
  const subject = { kind: 'Pod', namespace: view.namespace, name: view.name };
  for (const nic of interfaces) {
    warnings.push(...ineffectiveRequests(world, subject, nic, pod.metadata.annotations ?? {}).map(({ message }) => message));
    const taken = portNameConflict(world, nic);
    if (taken?.kind === 'waiting') {
      denials.push(forbidden(taken, 'metadata.name'));
      continue;
    }
    const named = namedSubnet(world, nic);
    if (named !== '' && world.ask(isClosed, named)) {
      const terminating = subnetTerminating(named);
      denials.push(forbidden({ ...terminating, message: podMessage(nic, 'subnet', terminating.message) }, fieldOf(nic, 'logical_switch')));
      continue;
    }
    const { requestState } = bindingOf(world, nic);
    if (requestState.kind === 'waiting') {
      if (NOT_ALLOWED.has(requestState.reason)) denials.push(forbidden(requestState, 'metadata.annotations'));
      else if (PERMANENT.has(requestState.reason))
        denials.push(invalid({ code: requestState.reason, field: 'metadata.annotations', message: requestState.message }));
      else if (named !== '') warnings.push(requestState.message);
    } else if (requestState.kind === 'address-request' && requestState.request.anyOf === undefined)
      denials.push(
        ...takenByName(observed, requestState.request, requestedField(nic, requestState.request), (sentence) =>
          podMessage(nic, 'address', sentence),
        ),
      );
  }
  return { denials, warnings };
}

export function validatePodUpdate(before: Pod, after: Pod, { world, complete }: Observed): AdmissionResult {
  const unreadableAttachment = newFindings(findingsOf(after), findingsOf(before)).map(invalid);
  if (unreadableAttachment.length > 0 || !complete) return { denials: unreadableAttachment, warnings: [] };
  return { denials: newFindings(exclusionDenials(world, after), exclusionDenials(world, before)), warnings: [] };
}

/** What the pod requests and its namespace or its port does not allow, both while it waits and while it runs. */
function exclusionDenials(world: World, pod: Pod): readonly Denial[] {
  const view = podViewOf(world, pod);
  if (view?.alive !== true || view.terminating) return [];
  const ofInterfaces = interfacesOf(world, view).interfaces.flatMap((nic): Denial[] => {
    const { requestState, durable } = bindingOf(world, nic);
    if (requestState.kind === 'waiting')
      return NOT_ALLOWED.has(requestState.reason) ? [forbidden(requestState, 'metadata.annotations')] : [];
    const values = durable === undefined ? [] : excludedPortValues(world, nic, durable.addresses.subnet);
    return values.map(({ reason, key, message }) => forbidden({ reason, message }, `metadata.annotations[${key}]`));
  });
  return [...ofInterfaces, ...natDenials(world, view)];
}

/** External addresses that the pod requests and cannot have. */
function natDenials(world: World, view: PodView): readonly Denial[] {
  return podNatDenials(world, view).map(({ annotation, reason, message }) =>
    forbidden({ reason, message }, `metadata.annotations[${annotation}]`),
  );
}

/** The annotations that cannot be read, independent of all objects. */
function findingsOf(pod: Pod): readonly Pick<Finding, 'code' | 'field' | 'message'>[] {
  const { name, namespace = '', annotations = {} } = pod.metadata;
  if (pod.spec.hostNetwork === true) return [];
  const selected = selectionsOf({ key: `${namespace}/${name}`, namespace, annotations });
  return [
    ...podNetworkFindings({ kind: 'Pod', namespace, name }, annotations),
    ...(selected.ok ? [] : [{ code: UNREADABLE, field: 'metadata.annotations', message: selected.problem }]),
  ];
}

function requestedField(nic: PodInterface, { v4, v6, mac }: AddressRequest): string {
  return fieldOf(nic, mac !== undefined && v4 === undefined && v6 === undefined ? 'mac_address' : 'ip_address');
}

function fieldOf(nic: PodInterface, suffix: 'ip_address' | 'mac_address' | 'logical_switch'): string {
  return `metadata.annotations[${podAnnotation(nic.provider, suffix)}]`;
}
