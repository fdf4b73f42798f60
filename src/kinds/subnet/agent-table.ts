import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { LabelSelector } from '../../api/kubernetes/meta.ts';
import { isTableOfHost } from '../../api/routing-tables.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { acceptedSpecIn } from '../../api/validation/subnet-accepted-spec.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { canonicalAddress } from '../../net/address.ts';
import { canonicalCidr } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import { resource } from './resource.ts';

/** A Subnet, for the interfaces of its pods. */
export interface NodeSubnet {
  readonly uid?: string;
  /** 0: the node's default. */
  readonly mtu: number;
  /** Empty: the default Vpc. */
  readonly vpc: string;
  /** Canonical, at most one a family. */
  readonly cidrs: readonly string[];
  /** Canonical, at most one a family. Missing: none. */
  readonly gateways?: readonly string[];
  /** Its Vlan, if it is an underlay Subnet. */
  readonly vlan?: string;
  /** Of such a one: it is connected to the overlay. */
  readonly interconnection?: Interconnection;
  /** Its pods reach other networks through routers of OVN, not through one of a Vlan. */
  readonly overlay: boolean;
  /** False: pods start although their gateway does not answer. */
  readonly checksGateway: boolean;
  readonly natOutgoing: boolean;
  /** `node-1:172.18.0.2,node-2`: nodes of a centralized gateway, each with the address that it translates to, if it has one. */
  readonly gatewayNodes: string;
  /** Nodes of a centralized gateway by label, if `gatewayNodes` is empty. */
  readonly gatewaySelectors: readonly LabelSelector[];
  readonly centralized: boolean;
  /** First match wins. */
  readonly natRules: readonly NatRule[];
  /** What leaves is sent to these hosts, and not translated. */
  readonly egress?: EgressGateway;
}

export interface Interconnection {
  /** Addresses of the router of its Vpc in it, instead of the physical gateway for its pods. Empty until it has one. */
  readonly routers: readonly string[];
  /** Its pods reach Services by load balancers of OVN, not through their nodes. */
  readonly balanced: boolean;
}

/** `externalEgressGateway`. */
export interface EgressGateway {
  /** At most one a family. */
  readonly gateways: readonly string[];
  /** A table of routes that no other program uses. */
  readonly table: number;
  readonly priority: number;
}

/** One of `natOutgoingPolicyRules`. */
export interface NatRule {
  readonly action: 'nat' | 'forward';
  /** Addresses and networks with commas; empty for any. */
  readonly sources: string;
  readonly destinations: string;
}

interface SubnetSpec {
  readonly mtu?: number;
  readonly vpc?: string;
  readonly cidrBlock?: string;
  readonly gateway?: string;
  readonly vlan?: string;
  readonly logicalGateway?: boolean;
  readonly u2oInterconnection?: boolean;
  readonly enableLb?: boolean;
  readonly disableGatewayCheck?: boolean;
  readonly natOutgoing?: boolean;
  readonly gatewayType?: string;
  readonly gatewayNode?: string;
  readonly gatewayNodeSelectors?: readonly LabelSelector[];
  readonly externalEgressGateway?: string;
  readonly policyRoutingTableID?: number;
  readonly policyRoutingPriority?: number;
}
interface SubnetObject extends KubeObject {
  readonly spec?: SubnetSpec;
  readonly status?: {
    readonly u2oInterconnectionIP?: string;
    readonly natOutgoingPolicyRules?: readonly {
      readonly action?: string;
      readonly match?: { readonly srcIPs?: string; readonly dstIPs?: string };
    }[];
  };
}

export const agentTable = agentTableOf({
  resource,
  view: nodeSubnet,
  /** Under the empty value, those with an `egress`. */
  indexes: { egress: ({ egress }) => (egress === undefined ? [] : ['']) },
});

/** What is in effect: while a later spec is refused, the controller records the one that was accepted, and the MTU that running pods have. */
function nodeSubnet({ metadata: { annotations, uid }, spec: requested = {}, status }: SubnetObject): NodeSubnet {
  const spec = acceptedSpecIn(annotations ?? {}, uid ?? '') ?? requested;
  const recorded = annotations?.[kilnAnnotation.mtu];
  return {
    ...(uid !== undefined && { uid }),
    mtu: (recorded === undefined ? spec.mtu : Number(recorded)) || 0,
    vpc: spec.vpc ?? '',
    cidrs: splitList(spec.cidrBlock ?? '').flatMap((text) => canonicalCidr(text) ?? []),
    gateways: splitList(spec.gateway ?? '').flatMap((text) => canonicalAddress(text) ?? []),
    ...(spec.vlan !== undefined && spec.vlan !== '' && { vlan: spec.vlan }),
    ...(spec.u2oInterconnection === true &&
      spec.logicalGateway !== true && {
        interconnection: {
          routers: splitList(status?.u2oInterconnectionIP ?? '').flatMap((text) => canonicalAddress(text) ?? []),
          balanced: spec.enableLb === true,
        },
      }),
    overlay: (spec.vlan ?? '') === '' || spec.logicalGateway === true,
    checksGateway: spec.disableGatewayCheck !== true,
    natOutgoing: spec.natOutgoing === true,
    centralized: spec.gatewayType === 'centralized',
    gatewayNodes: spec.gatewayNode ?? '',
    gatewaySelectors: spec.gatewayNodeSelectors ?? [],
    natRules: (status?.natOutgoingPolicyRules ?? []).map(({ action, match }) => ({
      action: action === 'forward' ? 'forward' : 'nat',
      sources: match?.srcIPs ?? '',
      destinations: match?.dstIPs ?? '',
    })),
    ...egressOf(spec),
  };
}

/** The rule of priority 0 finds the node's own addresses. */
const FIRST_PRIORITY = 1;

function egressOf(spec: SubnetSpec): Pick<NodeSubnet, 'egress'> {
  const gateways = splitList(spec.externalEgressGateway ?? '').flatMap((text) => canonicalAddress(text) ?? []);
  const { policyRoutingTableID: table = 0, policyRoutingPriority: priority = 0 } = spec;
  if (gateways.length === 0 || spec.natOutgoing === true || isTableOfHost(table)) return {};
  return { egress: { gateways, table, priority: Math.max(FIRST_PRIORITY, priority) } };
}
