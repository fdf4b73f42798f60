/** The fields of Kubernetes' own kinds that Kiln reads or writes. The cache of observed objects drops all others. */

import type { ConditionStatus, KubeObject, Labels, LabelSelector, ObjectMeta } from './meta.ts';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type IPFamily = 'IPv4' | 'IPv6';

/** Kinds without a spec. */
interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: Protocol;
}

export interface Container {
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
  /** `Always` on an init container that keeps running. */
  readonly restartPolicy?: string;
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** A condition of Kubernetes' own kinds. */
export interface CoreCondition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface PodStatus {
  readonly phase?: PodPhase;
  readonly reason?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly conditions?: readonly CoreCondition[];
}

export type Pod = KubeObject<PodSpec, PodStatus>;

export interface NamespaceStatus {
  readonly phase?: 'Active' | 'Terminating';
}

export interface Namespace extends Resource {
  readonly status?: NamespaceStatus;
}

export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export interface NodeSpec {
  readonly podCIDRs?: readonly string[];
  readonly unschedulable?: boolean;
}

export interface NodeStatus {
  readonly addresses?: readonly NodeAddress[];
  readonly conditions?: readonly CoreCondition[];
}

export type Node = KubeObject<NodeSpec, NodeStatus>;

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
}

export interface ServiceSpec {
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalIPs?: readonly string[];
  readonly ports?: readonly ServicePort[];
  readonly selector?: Labels;
  readonly sessionAffinity?: 'None' | 'ClientIP';
  readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
  readonly internalTrafficPolicy?: 'Cluster' | 'Local';
  readonly publishNotReadyAddresses?: boolean;
  readonly ipFamilies?: readonly IPFamily[];
}

export interface ServiceStatus {
  readonly loadBalancer?: {
    readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string; readonly ipMode?: 'VIP' | 'Proxy' }[];
  };
}

export type Service = KubeObject<ServiceSpec, ServiceStatus>;

/** `discovery.k8s.io/v1`; older servers serve the same fields as v1beta1, with `topology` instead of `nodeName`. */
export interface EndpointSlice extends Resource {
  readonly addressType: IPFamily | 'FQDN';
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly nodeName?: string;
  readonly topology?: Labels;
  readonly targetRef?: { readonly kind?: string; readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

export interface EndpointPort {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly port?: number;
}

export interface NetworkPolicyPort {
  readonly protocol?: Protocol;
  readonly port?: number | string;
  readonly endPort?: number;
}

export interface NetworkPolicyPeer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface NetworkPolicySpec {
  readonly podSelector?: LabelSelector;
  readonly policyTypes?: readonly ('Ingress' | 'Egress')[];
  readonly ingress?: readonly { readonly from?: readonly NetworkPolicyPeer[]; readonly ports?: readonly NetworkPolicyPort[] }[];
  readonly egress?: readonly { readonly to?: readonly NetworkPolicyPeer[]; readonly ports?: readonly NetworkPolicyPort[] }[];
}

export type NetworkPolicy = KubeObject<NetworkPolicySpec>;

export interface NetworkAttachmentDefinitionSpec {
  /** CNI configuration as JSON text. */
  readonly config?: string;
}

/** `k8s.cni.cncf.io/v1` */
export type NetworkAttachmentDefinition = KubeObject<NetworkAttachmentDefinitionSpec>;

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

/** `coordination.k8s.io/v1` */
export type Lease = KubeObject<LeaseSpec>;

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** `events.k8s.io/v1` and `v1` carry the same content; these are the fields of `v1`. */
export interface Event extends Resource {
  readonly involvedObject: ObjectReference;
  readonly type?: 'Normal' | 'Warning';
  readonly reason?: string;
  readonly message?: string;
  readonly action?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

export interface ConfigMap extends Resource {
  readonly data?: Readonly<Record<string, string>>;
}

/** A pod template's metadata: a workload copies its annotations to its pods. */
export interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
}

export interface StatefulSetSpec {
  readonly replicas?: number;
  readonly ordinals?: { readonly start?: number };
  readonly template?: PodTemplate;
}

/** `apps/v1`; its pods keep their addresses as long as it exists. */
export type StatefulSet = KubeObject<StatefulSetSpec>;
