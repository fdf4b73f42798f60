/** What is observed on one node. */
import { AnyWorld } from '../../world/any-world.ts';
import type { LabelSelector } from '../../api/kubernetes/meta.ts';
import { Table } from '../../world/table.ts';
import { type Attachment, interfaceOf } from './attachment.ts';
import { type HostLink, type NodeProviderNetwork, type NodeVlan, withoutLength } from './provider-network.ts';

/** The parts of a pod of this node that the agent reads. */
export interface NodePod {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A Subnet, for the interfaces of its pods. */
export interface NodeSubnet {
  /** 0: the node's default. */
  readonly mtu: number;
  /** Empty: the default Vpc. */
  readonly vpc: string;
  /** Canonical, at most one a family. */
  readonly cidrs: readonly string[];
  /** Its Vlan, if it is an underlay Subnet. */
  readonly vlan?: string;
  /** Of such a one: the overlay reaches its pods. */
  readonly interconnected?: true;
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

/** The node itself. */
export interface NodeFacts {
  readonly uid: string;
  /** Its InternalIP addresses. */
  readonly addresses: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly networkUnavailable?: ObservedCondition;
}

/** Of a Node, as the API server has it. */
export interface ObservedCondition {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** An Interface of the Open_vSwitch database, by name. */
export interface VswitchPort {
  readonly externalIds: Readonly<Record<string, string>>;
  /** Why Open vSwitch could not add it; empty if it could. */
  readonly error: string;
}

export interface VswitchBridge {
  readonly datapathType: string;
  readonly externalIds: Readonly<Record<string, string>>;
}

/** An address that another host answers for. */
export interface Duplicate {
  readonly address: string;
  /** Its MAC address; empty if the host did not say. */
  readonly holder: string;
}

/** A device of a pod as the kernel shows it, by the name of the node's end. */
export type ObservedDevice =
  | { readonly kind: 'absent' }
  /** The namespace that should have it does not exist. `linked`: the node's end does, so that the namespace only lost its path. */
  | { readonly kind: 'no-namespace'; readonly linked?: true }
  | {
      readonly kind: 'present';
      readonly mac: string;
      readonly mtu: number;
      /** Both ends. */
      readonly up: boolean;
      /** With the length of the prefix; link-local ones left out, sorted. */
      readonly addresses: readonly string[];
      /** As `routeText` makes them, sorted; without those that the kernel makes by itself. */
      readonly routes: readonly string[];
      /** Of a device of the node: whether the node forwards packets. */
      readonly forwards?: boolean;
      /** Of `addresses`, those that the kernel still checks for duplicates. Missing: none. */
      readonly tentative?: readonly string[];
      /** Addresses that the device should have and does not get: other hosts of its network have them. Missing: none. */
      readonly duplicates?: readonly Duplicate[];
      /** Gateways that answered. Missing: none. */
      readonly reached?: readonly string[];
    };

/** Key of table `failures` while the API server does not answer. */
export const API_SERVER = 'the API server';

export class NodeWorld extends AnyWorld {
  /** By `namespace/name`. */
  readonly pods = new Table<NodePod>(this.reactor, 'pods');
  /** Index `egress`: under the empty value, those with an `egress`. */
  readonly subnets = new Table<NodeSubnet>(this.reactor, 'subnets', { egress: ({ egress }) => (egress === undefined ? [] : ['']) });
  /** Networks of the underlay, and their Vlans. */
  readonly providerNetworks = new Table<NodeProviderNetwork>(this.reactor, 'provider-networks');
  readonly vlans = new Table<NodeVlan>(this.reactor, 'vlans');
  /** The node's own devices by name, with their addresses and routes. Index `address`: without the length of the prefix. */
  readonly hostLinks = new Table<HostLink>(this.reactor, 'host-links', { address: ({ addresses }) => addresses.map(withoutLength) });
  /** By name: this node alone. */
  readonly nodes = new Table<NodeFacts>(this.reactor, 'nodes');
  /** Index `interface`: attachments of one interface of a pod, which differ in their sandbox. */
  readonly attachments = new Table<Attachment>(this.reactor, 'attachments', { interface: (attachment) => [interfaceOf(attachment)] });
  readonly ports = new Table<VswitchPort>(this.reactor, 'ports');
  readonly bridges = new Table<VswitchBridge>(this.reactor, 'bridges');
  /** `external_ids` of the one row of table Open_vSwitch, by key. */
  readonly settings = new Table<string>(this.reactor, 'settings');
  readonly devices = new Table<ObservedDevice>(this.reactor, 'devices');
  /** Why the last write for an identity failed, by `<kind> <identity>`; it is tried again. */
  readonly failures = new Table<string>(this.reactor, 'failures');
}
