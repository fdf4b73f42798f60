/** The Endpoints and EndpointSlices of a Service, as kube-controller-manager makes them from the selected pods. */
import { isIPv6 } from 'node:net';
import type { Service, ServicePort } from '../../src/api/kubernetes/core.ts';
import { type ChildPod, isActive, isReady, isTerminating } from './workload.ts';

export interface PlannedPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
}

interface PodReference {
  readonly kind: 'Pod';
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
}

interface PlannedAddress {
  readonly ip: string;
  readonly nodeName?: unknown;
  readonly targetRef: PodReference;
}

export interface PlannedSubset {
  readonly addresses?: readonly PlannedAddress[];
  readonly notReadyAddresses?: readonly PlannedAddress[];
  readonly ports?: readonly PlannedPort[];
}

export interface PlannedSlice {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly endpoints: readonly object[];
  readonly ports: readonly PlannedPort[];
}

export interface PlannedEndpoints {
  readonly subsets: readonly PlannedSubset[];
  /** At least one for each family of the Service. */
  readonly slices: readonly PlannedSlice[];
}

/** The limit of one slice. */
const MOST_ENDPOINTS = 100;

/** @param pods the pods that the Service selects */
export function planEndpoints({ spec }: Service, pods: readonly ChildPod[]): PlannedEndpoints {
  const families = spec.ipFamilies ?? ['IPv4'];
  const isShown = (pod: ChildPod): boolean => isReady(pod) || (spec.publishNotReadyAddresses === true && isLiving(pod));
  const living = pods.filter(isLiving).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const groups = new Map<string, { readonly ports: readonly PlannedPort[]; readonly pods: ChildPod[] }>();
  for (const pod of living) {
    const ports = (spec.ports ?? []).flatMap((port) => portOf(port, pod));
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, pods: [] };
    group.pods.push(pod);
    groups.set(key, group);
  }
  const [family = 'IPv4'] = families;
  const subsets = [...groups.values()].flatMap(({ ports, pods: alike }): PlannedSubset[] => {
    const going = alike.filter((pod) => !isTerminating(pod) || spec.publishNotReadyAddresses === true);
    const [addresses, notReadyAddresses] = [going.filter(isShown), going.filter((pod) => !isShown(pod))].map((some) =>
      some.flatMap((pod) => addressesOf(pod, family).map((ip) => ({ ip, ...nodeOf(pod), targetRef: referenceOf(pod) }))),
    );
    const filled = { ...(addresses?.length && { addresses }), ...(notReadyAddresses?.length && { notReadyAddresses }) };
    return Object.keys(filled).length === 0 ? [] : [{ ...filled, ...(ports.length > 0 && { ports }) }];
  });
  const slices = families.flatMap((addressType): PlannedSlice[] => {
    const filled = [...groups.values()].flatMap(({ ports, pods: alike }) => {
      const endpoints = alike.flatMap((pod) => {
        const addresses = addressesOf(pod, addressType);
        const conditions = { ready: isShown(pod), serving: pod.ready, terminating: isTerminating(pod) };
        return addresses.length === 0 ? [] : [{ addresses, conditions, ...nodeOf(pod), targetRef: referenceOf(pod) }];
      });
      const chunks: PlannedSlice[] = [];
      for (let at = 0; at < endpoints.length; at += MOST_ENDPOINTS)
        chunks.push({
          addressType,
          endpoints: endpoints.slice(at, at + MOST_ENDPOINTS),
          ports: ports.map((port) => ({ name: '', ...port })),
        });
      return chunks;
    });
    return filled.length > 0 ? filled : [{ addressType, endpoints: [], ports: [] }];
  });
  return { subsets, slices };
}

/** A pod with an address that has not ended; it may be terminating. */
function isLiving(pod: ChildPod): boolean {
  return (isActive(pod) || (isTerminating(pod) && pod.phase === 'Running')) && pod.ips.length > 0;
}

function addressesOf(pod: ChildPod, family: 'IPv4' | 'IPv6'): string[] {
  return pod.ips.filter((ip) => isIPv6(ip) === (family === 'IPv6')).slice(0, 1);
}

function nodeOf({ spec }: ChildPod): { readonly nodeName?: unknown } {
  return spec['nodeName'] === undefined ? {} : { nodeName: spec['nodeName'] };
}

function referenceOf({ metadata: { namespace, name, uid } }: ChildPod): PodReference {
  return { kind: 'Pod', namespace, name, uid };
}

/** A named port is the port of that name in the pod; empty if the pod has none. */
function portOf({ name, port, targetPort = port, protocol = 'TCP' }: ServicePort, pod: ChildPod): PlannedPort[] {
  const found =
    typeof targetPort === 'number'
      ? targetPort
      : pod.ports.find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort;
  return found === undefined ? [] : [{ ...(name === undefined ? {} : { name }), port: found, protocol }];
}
