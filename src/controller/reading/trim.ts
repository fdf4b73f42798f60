/**
 * The part of an object that a cache keeps: no managed fields, no last-applied copy, and of pods and nodes only what rules read.
 */
import type { Container, Namespace, NetworkAttachmentDefinition, Node, Pod, PodSpec, StatefulSet } from '../../api/kubernetes/core.ts';
import type {
  MachineNetwork,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../api/kubernetes/virtual-machine.ts';
import { kilnAnnotation, POD_CONDITIONS } from '../../api/well-known.ts';
import { API_VERSION } from '../../api/schema/kind.ts';
import { relevantManagedFields } from '../../api/kubernetes/applied-fields.ts';
import type { ObjectMeta } from '../../api/kubernetes/meta.ts';
import type { Subnet } from '../../api/kinds/subnet.ts';
import { Interner } from '../../world/interner.ts';
import { internLabels } from '../../world/label-set.ts';
import type { NatRule } from '../../world/nat-rules.ts';

/** An object as the API server sends it. */
export interface Untrimmed {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Omit<ObjectMeta, 'managedFields'> & { readonly managedFields?: unknown; readonly selfLink?: string };
  readonly spec?: unknown;
  readonly status?: unknown;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function trimMeta(metadata: Untrimmed['metadata'], keep: (annotation: string) => boolean = () => true): ObjectMeta {
  const { managedFields, selfLink, annotations, ...rest } = metadata;
  if (managedFields === undefined && selfLink === undefined && !drops(annotations, keep)) return metadata as ObjectMeta;
  if (annotations === undefined) return rest;
  const kept = Object.entries(annotations).filter(([key]) => key !== LAST_APPLIED && keep(key));
  return { ...rest, annotations: Object.fromEntries(kept) };
}

function drops(annotations: ObjectMeta['annotations'], keep: (annotation: string) => boolean): boolean {
  if (annotations !== undefined) for (const key of Object.keys(annotations)) if (key === LAST_APPLIED || !keep(key)) return true;
  return false;
}

/** Custom resources are kept whole, without the bookkeeping of clients. */
export function trimCustom<T extends Untrimmed>(object: T): T {
  return { ...object, metadata: trimMeta(object.metadata) };
}

/** Keeps, of the managed fields, the applied fields of the spec: Kiln does not default those. */
export function trimSubnet(object: Subnet & Untrimmed): Subnet {
  const managedFields = relevantManagedFields(object.metadata.managedFields);
  return { ...object, metadata: { ...trimMeta(object.metadata), ...(managedFields !== undefined && { managedFields }) } };
}

const NETWORK_KEYS = /\.kubernetes\.io\/|^kiln\.io\/|^k8s\.v1\.cni\.cncf\.io\/|^v1\.multus-cni\.io\/|^kubevirt\.io\/|^kubeovn\.io\//;

/** Groups of Kube-OVN and Kiln: a key of them that no program reads is reported. */
const OWN_KEYS = /(^|\.)ovn(\.[^.]+)?\.kubernetes\.io\/|^kiln\.io\/|^kubeovn\.io\//;

export function trimPod(object: Untrimmed): Pod {
  const { labels, ...rest } = trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key));
  // Selectors of Vips and policies are matched with them.
  const metadata = labels === undefined ? rest : { ...rest, labels: internLabels(labels) };
  const pod = object as Pod;
  const containers = withNamedPorts(pod.spec);
  const { nodeName, hostNetwork, restartPolicy, terminationGracePeriodSeconds } = pod.spec;
  const { phase, reason, conditions } = pod.status ?? {};
  const own = conditions?.filter(({ type }) => POD_CONDITIONS.includes(type)) ?? [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      ...(nodeName === undefined || nodeName === '' ? {} : { nodeName }),
      ...(hostNetwork === true ? { hostNetwork } : {}),
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
      ...(containers === undefined ? {} : { containers }),
    },
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(reason === undefined ? {} : { reason }),
      ...(own.length === 0 ? {} : { conditions: own }),
    },
  };
}

/**
 * Containers with named ports, and of these only the ports: Services and policies name them. An init container that keeps running counts as
 * a container.
 */
function withNamedPorts({ containers = [], initContainers = [] }: PodSpec): readonly Container[] | undefined {
  const running = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
  const named = running.flatMap(({ name, ports = [] }): readonly Container[] => {
    const kept = ports.flatMap(({ name: port = '', containerPort, protocol }) =>
      port === '' ? [] : [{ name: port, containerPort, ...(protocol !== undefined && { protocol }) }],
    );
    return kept.length === 0 ? [] : [{ name, ports: kept }];
  });
  return named.length === 0 ? undefined : containerLists.intern(JSON.stringify(named), named);
}

const containerLists = new Interner<readonly Container[]>();

export function trimNode(object: Untrimmed): Node {
  const node = object as Node;
  const ready =
    node.status?.conditions?.filter((condition) => condition.type === 'Ready').map(({ type, status }) => ({ type, status })) ?? [];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: trimMeta(object.metadata),
    spec: {},
    status: { addresses: node.status?.addresses ?? [], conditions: ready },
  };
}

export function trimNamespace(object: Untrimmed): Namespace {
  const { phase } = (object as Namespace).status ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: trimMeta(object.metadata),
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

export function trimStatefulSet(object: Untrimmed): StatefulSet {
  const { replicas, ordinals, template } = (object as StatefulSet).spec;
  const annotations = template?.metadata?.annotations;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...(ordinals === undefined ? {} : { ordinals }),
      ...(annotations === undefined ? {} : { template: { metadata: { annotations } } }),
    },
  };
}

export function trimNetworkAttachment(object: Untrimmed): NetworkAttachmentDefinition {
  const { config } = (object.spec ?? {}) as NetworkAttachmentDefinition['spec'];
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: typeof config === 'string' ? { config } : {},
  };
}

/** For an object that Kiln only reports on: its identity, and the reported conditions. */
export function trimReported(object: Untrimmed): Pick<Untrimmed, 'metadata' | 'status'> {
  const { conditions } = (object.status ?? {}) as { readonly conditions?: unknown };
  return {
    metadata: trimMeta(object.metadata, (key) => key === kilnAnnotation.conditions),
    ...(conditions === undefined ? {} : { status: { conditions } }),
  };
}

export function trimNatRule(object: Untrimmed): NatRule {
  const { ovnEip, eip, ipName, ipType } = (object.spec ?? {}) as NatRule['spec'];
  const { ready, v4Eip, v6Eip, v4Ip, v6Ip, v4IpCidr, v6IpCidr, conditions } = (object.status ?? {}) as NonNullable<NatRule['status']>;
  return {
    apiVersion: API_VERSION,
    kind: object.kind ?? '',
    metadata: trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key)),
    spec: {
      ...(ovnEip !== undefined && { ovnEip }),
      ...(eip !== undefined && { eip }),
      ...(ipName !== undefined && { ipName }),
      ...(ipType !== undefined && { ipType }),
    },
    status: {
      ...(ready !== undefined && { ready }),
      ...(v4Eip !== undefined && { v4Eip }),
      ...(v6Eip !== undefined && { v6Eip }),
      ...(v4Ip !== undefined && { v4Ip }),
      ...(v6Ip !== undefined && { v6Ip }),
      ...(v4IpCidr !== undefined && { v4IpCidr }),
      ...(v6IpCidr !== undefined && { v6IpCidr }),
      ...(conditions !== undefined && { conditions }),
    },
  };
}

export function trimMachine(object: Untrimmed): VirtualMachine {
  const { template } = (object.spec ?? {}) as VirtualMachine['spec'];
  const annotations = template?.metadata?.annotations;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: {
      template: {
        metadata: annotations === undefined ? {} : { annotations: networkAnnotations(annotations) },
        spec: { networks: attachedNetworks(template?.spec?.networks) },
      },
    },
  };
}

export function trimInstance(object: Untrimmed): VirtualMachineInstance {
  const { networks } = (object.spec ?? {}) as VirtualMachineInstance['spec'];
  const { migrationUid, completed, failed } = ((object.status ?? {}) as NonNullable<VirtualMachineInstance['status']>).migrationState ?? {};
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key)),
    spec: { networks: attachedNetworks(networks) },
    ...(migrationUid !== undefined && {
      status: { migrationState: { migrationUid, completed: completed === true, failed: failed === true } },
    }),
  };
}

export function trimMigration(object: Untrimmed): VirtualMachineInstanceMigration {
  const { vmiName } = (object.spec ?? {}) as VirtualMachineInstanceMigration['spec'];
  const { phase } = (object.status ?? {}) as NonNullable<VirtualMachineInstanceMigration['status']>;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: trimMeta(object.metadata, () => false),
    spec: { ...(vmiName !== undefined && { vmiName }) },
    status: { ...(phase !== undefined && { phase }) },
  };
}

function networkAnnotations(annotations: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => NETWORK_KEYS.test(key)));
}

function attachedNetworks(networks: readonly MachineNetwork[] | undefined): readonly MachineNetwork[] {
  return (networks ?? []).flatMap(({ multus }) =>
    multus?.networkName === undefined ? [] : [{ multus: { networkName: multus.networkName } }],
  );
}
