/** A pod that is made, or whose annotations change: what they ask must be readable, and possible. */
import type { Reason } from '../api/reasons.ts';
import type { Pod } from '../api/core.ts';
import type { Finding } from '../api/finding.ts';
import { podNetworkFindings } from '../api/pod-network-validation.ts';
import { podAnnotation } from '../api/well-known.ts';
import { bindingOf } from '../compile/pod/pod-binding.ts';
import { toldOf } from '../compile/pod/pod-asks.ts';
import type { PodInterface } from '../compile/pod/pod-interface.ts';
import { interfacesOf, selectionsOf } from '../compile/pod/pod-interfaces.ts';
import { namedSubnet } from '../compile/pod/pod-subnet.ts';
import { podViewOf } from '../compile/pod/pod-view.ts';
import { subnetTerminating, takesNobody } from '../compile/subnet/subnet-ready.ts';
import type { AddressWish } from '../world/reservations.ts';
import { takenByName } from './taken-addresses.ts';
import type { Objection, Observed, Opinion } from './opinion.ts';
import { forbidden, invalid, newOnes, NO_OPINION } from './opinion.ts';

const UNREADABLE: Reason = 'InvalidAnnotation';
const NEVER: ReadonlySet<string> = new Set([UNREADABLE, 'InvalidNetwork']);

export function podCreated(pod: Pod, observed: Observed): Opinion {
  const findings = findingsOf(pod);
  if (findings.length > 0) return { objections: findings.map(invalid), warnings: [] };
  const { world, complete } = observed;
  const view = complete ? podViewOf(world, pod) : undefined;
  if (view === undefined) return NO_OPINION;
  const objections: Objection[] = [];
  const warnings: string[] = [];
  const { interfaces, problem } = interfacesOf(world, view);
  if (problem !== undefined) {
    if (problem.reason === UNREADABLE)
      objections.push(invalid({ code: problem.reason, field: 'metadata.annotations', message: problem.message }));
    else warnings.push(problem.message);
  }
  for (const nic of interfaces) {
    const named = namedSubnet(world, nic);
    if (named !== '' && world.ask(takesNobody, named)) {
      const going = subnetTerminating(named);
      objections.push(forbidden({ ...going, message: toldOf(nic, 'subnet', going.message) }, fieldOf(nic, 'logical_switch')));
      continue;
    }
    const { demand } = bindingOf(world, nic);
    if (demand.kind === 'waiting') {
      if (NEVER.has(demand.reason))
        objections.push(invalid({ code: demand.reason, field: 'metadata.annotations', message: demand.message }));
      else if (named !== '') warnings.push(demand.message);
    } else if (demand.kind === 'wish' && demand.wish.anyOf === undefined)
      objections.push(...takenByName(observed, demand.wish, askingField(nic, demand.wish), (sentence) => toldOf(nic, 'address', sentence)));
  }
  return { objections, warnings };
}

export function podChanged(before: Pod, after: Pod): Opinion {
  return { objections: newOnes(findingsOf(after), findingsOf(before)).map(invalid), warnings: [] };
}

/** What of the annotations cannot be read, whatever else there is. */
function findingsOf(pod: Pod): readonly Pick<Finding, 'code' | 'field' | 'message'>[] {
  const { name, namespace = '', annotations = {} } = pod.metadata;
  if (pod.spec.hostNetwork === true) return [];
  const selected = selectionsOf({ key: `${namespace}/${name}`, namespace, annotations });
  return [
    ...podNetworkFindings({ kind: 'Pod', namespace, name }, annotations),
    ...(selected.ok ? [] : [{ code: UNREADABLE, field: 'metadata.annotations', message: selected.problem }]),
  ];
}

function askingField(nic: PodInterface, { v4, v6, mac }: AddressWish): string {
  return fieldOf(nic, mac !== undefined && v4 === undefined && v6 === undefined ? 'mac_address' : 'ip_address');
}

function fieldOf(nic: PodInterface, suffix: 'ip_address' | 'mac_address' | 'logical_switch'): string {
  return `metadata.annotations[${podAnnotation(nic.provider, suffix)}]`;
}
