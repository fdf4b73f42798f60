/** What is observed on one node. */
import { AgentTables } from '../../kinds/generated/agent-tables.ts';
import { Table } from '../../engine/table.ts';
import type { WrittenObject } from './agent-table.ts';
import { type Attachment, interfaceOf } from './attachment.ts';
import { type HostLink, withoutLength } from './device-network.ts';
import type { BfdResponder, GatewayNamespace } from './gateway.ts';
import type { KubeletMark, ProbeListener } from './probe.ts';

/** An Interface of the Open_vSwitch database, by name. */
export interface VswitchPort {
  readonly externalIds: Readonly<Record<string, string>>;
  /** Why Open vSwitch could not add it; empty if it could. */
  readonly error: string;
  /** Missing until Open vSwitch has opened its device; then which row it is: one that is made anew is another. */
  readonly opened?: string;
  /** The Port has the agent's mark: another program may have cleared the keys of its Interface. */
  readonly marked?: true;
  /** The row of QoS that the agent made for it; missing for none. */
  readonly queue?: string;
}

export interface VswitchBridge {
  readonly datapathType: string;
  readonly externalIds: Readonly<Record<string, string>>;
  /** Another program made it. */
  readonly foreign?: true;
}

/** An address that another host answers for. */
export interface Duplicate {
  readonly address: string;
  /** Its MAC address; empty if the host did not say. */
  readonly holder: string;
}

/** A device of a pod as the kernel shows it, by the name of the node's end. */
export type ObservedDevice =
  | {
      readonly kind: 'absent';
      /** Of a device that Open vSwitch makes: it was there, and was deleted while the Interface of this row (`opened`) stayed. */
      readonly lost?: string;
      /** Of a device of a pod: another program's device has its name, in the pod's namespace or on the node. */
      readonly taken?: 'in-pod' | 'on-node';
    }
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
      /** Destinations of routes of others that a route of this device would replace, or come before. Missing: none. */
      readonly elsewhere?: readonly string[];
      /** Of a device of the node: routes as they should be, but without the agent's mark. Missing: none. */
      readonly unmarked?: readonly string[];
      /** Of a device of the node: addresses without the route to their network. Missing: none. */
      readonly unconnected?: readonly string[];
      /** A device of the node that is up and has no link-local address of IPv6, which the kernel gave it. */
      readonly withoutLinkLocal?: true;
      /** Of a device of the node: whether the node forwards packets. */
      readonly forwards?: boolean;
      /** Of a device of a node that does not forward: devices by which a router announced itself, which are to be heard as well once it does. */
      readonly advertised?: readonly string[];
      /** Of `addresses`, those that the kernel still checks for duplicates. Missing: none. */
      readonly tentative?: readonly string[];
      /** Addresses that the device should have and does not get: other hosts of its network have them. Missing: none. */
      readonly duplicates?: readonly Duplicate[];
      /** Gateways that answered. Missing: none. */
      readonly reached?: readonly string[];
    };

/** Key of table `failures` while the API server does not answer. */
export const API_SERVER = 'the API server';

/** Key of table `outdated` for `hostLinks`. */
export const HOST_LINKS = 'host-links';

type TablesOfKinds = ReturnType<AgentTables['tablesOfKinds']>;

/** A kind that a node agent observes, by plural name. */
export type AgentResource = keyof TablesOfKinds;
/** One whose objects rules of a node may change. */
export type WrittenResource = {
  readonly [R in AgentResource]: TablesOfKinds[R] extends Table<infer V> ? (V extends WrittenObject ? R : never) : never;
}[AgentResource];

/** Beside the tables of kinds, which their records have. */
export class NodeWorld extends AgentTables {
  /** The node's own devices by name, with their addresses and routes. Index `address`: without the length of the prefix. */
  readonly hostLinks = new Table<HostLink>(this.reactor, HOST_LINKS, { address: ({ addresses }) => addresses.map(withoutLength) });
  /** Index `interface`: attachments of one interface of a pod, which differ in their sandbox. */
  readonly attachments = new Table<Attachment>(this.reactor, 'attachments', { interface: (attachment) => [interfaceOf(attachment)] });
  readonly ports = new Table<VswitchPort>(this.reactor, 'ports');
  readonly bridges = new Table<VswitchBridge>(this.reactor, 'bridges');
  /** `external_ids` of the one row of table Open_vSwitch, by key. */
  readonly settings = new Table<string>(this.reactor, 'settings');
  readonly devices = new Table<ObservedDevice>(this.reactor, 'devices');
  /** Rows of QoS, by the name of the device: their queue is not in the kernel, and they have to be made anew. */
  readonly lostQueues = new Table<string>(this.reactor, 'lost-queues');
  /** By address and port. */
  readonly probeListeners = new Table<ProbeListener>(this.reactor, 'probe-listeners');
  /** One entry, once it was looked for. */
  readonly kubelet = new Table<KubeletMark>(this.reactor, 'kubelet');
  /** Hosts that the node itself talks to, by address: what each is, as words. */
  readonly hostPeers = new Table<string>(this.reactor, 'host-peers');
  /** By name. */
  readonly gatewayNamespaces = new Table<GatewayNamespace>(this.reactor, 'gateway-namespaces');
  /** By path of the namespace. */
  readonly bfdResponders = new Table<BfdResponder>(this.reactor, 'bfd-responders');
  /**
   * Tables that the agent's own write may have made wrong: it is under way, or not listed yet. Before a rule lets go of what cannot be had again,
   * for what such a table shows, it waits.
   */
  readonly outdated = new Table<true>(this.reactor, 'outdated');
  /** Why the last write for an identity failed, by `<kind> <identity>`; it is tried again. */
  readonly failures = new Table<string>(this.reactor, 'failures');

  /** An object that rules may change, untracked. */
  written({ resource, name }: { readonly resource: WrittenResource; readonly name: string }): WrittenObject | undefined {
    return this.tablesOfKinds()[resource].peek(name);
  }
}
