import { annotationKey } from '../../api/well-known.ts';
import type { DrawnKind, DrawnPatch, DrawnSpec, Draws, Present } from '../../testing/drawn-kind.ts';
import { names, NAMES, podSpec, someAddress } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = { weight: 40, names: NAMES.pods, object: drawnPod, patch: editedPod };

function drawnPod(draws: Draws, present: Present): DrawnSpec {
  const namespace = draws.pick(NAMES.namespaces);
  const name = draws.pick(NAMES.pods);
  const annotations: DrawnSpec = {};
  if (draws.chance(0.2)) annotations['ovn.kubernetes.io/logical_switch'] = draws.pick(NAMES.subnets);
  if (draws.chance(0.12)) annotations['ovn.kubernetes.io/ip_address'] = someAddress(draws);
  if (draws.chance(0.06)) annotations['ovn.kubernetes.io/ip_pool'] = draws.pick([...names('pool', 3), '10.1.0.2,10.1.0.3']);
  if (draws.chance(0.1)) annotations['k8s.v1.cni.cncf.io/networks'] = `${namespace}/${draws.pick(NAMES.networks)}`;
  if (draws.chance(0.06)) Object.assign(annotations, externalAddresses(draws));
  if (draws.chance(0.05)) annotations['ovn.kubernetes.io/port_vips'] = someAddress(draws);
  const spec = podSpec();
  if (draws.chance(0.9)) spec['nodeName'] = draws.pick(NAMES.nodes);
  if (draws.chance(0.04)) spec['hostNetwork'] = true;
  const owner = draws.chance(0.06) ? instanceOwner(draws, present, namespace) : undefined;
  return {
    metadata: { name, namespace, annotations, labels: { app: name }, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: owner === undefined ? spec : { ...spec, restartPolicy: 'Never' },
  };
}

function instanceOwner(draws: Draws, present: Present, namespace: string): DrawnSpec | undefined {
  const name = draws.pick(NAMES.machines);
  const uid = present.uidOf('virtualmachineinstances.kubevirt.io', `${namespace}/${name}`);
  return uid === undefined ? undefined : { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid };
}

/** Of the gateway's ConfigMap, of the Subnet of a Vpc, and one typing error. */
function externalAddresses(draws: Draws): DrawnSpec {
  const address = (): string => draws.pick(['172.30.0.5', '172.30.0.6', '172.30.0.9', '10.1.0.3', 'oops']);
  return {
    ...(draws.chance(0.7) ? { [annotationKey.podEip]: address() } : {}),
    ...(draws.chance(0.5) ? { [annotationKey.podSnat]: address() } : {}),
  };
}

type Edit = 'external' | 'finish' | 'run' | 'network' | 'tamper' | 'label';
/** In proportion to their number. */
const EDITS: readonly Edit[] = [
  ...['finish', 'finish', 'finish', 'finish', 'run', 'run', 'run', 'run'],
  ...['network', 'network', 'tamper', 'tamper', 'label', 'external'],
] as const;

function editedPod(draws: Draws, name: string): DrawnPatch {
  switch (draws.pick(EDITS)) {
    case 'finish':
      return { patch: { status: { phase: draws.pick(['Succeeded', 'Failed']) } }, isOfStatus: true };
    case 'run':
      return { patch: { status: { phase: 'Running' } }, isOfStatus: true };
    case 'external':
      return {
        patch: { metadata: { annotations: { [annotationKey.podEip]: null, [annotationKey.podSnat]: null, ...externalAddresses(draws) } } },
      };
    case 'network':
      return {
        patch: {
          metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': draws.chance(0.5) ? null : `ns0/${draws.pick(NAMES.networks)}` } },
        },
      };
    case 'tamper':
      return {
        patch: { metadata: { annotations: { [`ovn.kubernetes.io/${draws.pick(['allocated', 'ip_address', 'logical_switch'])}`]: null } } },
      };
    case 'label':
      return { patch: { metadata: { labels: { app: `${name}-x` } } } };
  }
}
