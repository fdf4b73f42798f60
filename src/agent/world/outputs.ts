/** What the rules of a node emit. */
import type { InterfaceReply } from '../../cni/agent-protocol.ts';
import type { AGENT_WRITES } from '../../kinds/generated/agent-writes.ts';
import type { AttachmentKey, DeviceName } from './attachment.ts';
import type { DeviceNetwork, TakenInterface } from './device-network.ts';
import type { AgentResource, WrittenResource } from './node-world.ts';
import type { Probe } from './probe.ts';

/** A bridge of Open vSwitch. It is never removed by a rule. */
export interface BridgeOutput {
  readonly kind: 'bridge';
  readonly name: string;
  /** `system` or `netdev`. */
  readonly datapathType: string;
}

/** The bridge of a ProviderNetwork; it is collected when no rule emits it. */
export interface ProviderBridgeOutput {
  readonly kind: 'provider-bridge';
  readonly name: string;
  readonly datapathType: string;
  readonly network: string;
  /** Its device has the MAC of the node's interface; undefined: as it is. */
  readonly mac?: string;
  /** Keys of its `external_ids` beside its marks. */
  readonly externalIds: Readonly<Record<string, string>>;
}

/** The node's interface in such a bridge. */
export interface UplinkPortOutput {
  readonly kind: 'uplink-port';
  readonly name: DeviceName;
  readonly bridge: string;
  readonly network: string;
  /** Tags that pass, sorted; 0 is untagged. */
  readonly trunks: readonly number[];
}

/** All bridges of ProviderNetworks by network: entries of `ovn-bridge-mappings`; those of other programs stay. */
export interface BridgeMappingsOutput {
  readonly kind: 'bridge-mappings';
  readonly bridges: Readonly<Record<string, string>>;
  /** By network: the MAC address of this node's part of the routers there; a network without one keeps what it has. */
  readonly macs: Readonly<Record<string, string>>;
  /** Interfaces of the node that are in a bridge, or are about to be, by network. */
  readonly taken: Readonly<Record<string, TakenInterface>>;
}

/** Addresses and routes that a device must have instead of another one. */
export interface MoveOutput {
  readonly kind: 'move';
  readonly from: DeviceName;
  readonly to: DeviceName;
  readonly network: DeviceNetwork;
}

/** The node's interface with another name, and what it had before. */
export interface RenamedLinkOutput {
  readonly kind: 'renamed-link';
  readonly from: DeviceName;
  readonly to: DeviceName;
  readonly network: DeviceNetwork;
}

/** The node's interface in a bridge: it is up. */
export interface UsedLinkOutput {
  readonly kind: 'used-link';
  readonly name: DeviceName;
}

/** A VLAN interface on a device; one of its name on another device is replaced. */
export interface VlanLinkOutput {
  readonly kind: 'vlan-link';
  readonly name: DeviceName;
  readonly parent: string;
  readonly tag: number;
  /** Undefined: those of the device below it. */
  readonly mac?: string;
  readonly mtu?: number;
  /** Undefined: it is not the agent's. */
  readonly alias?: string;
  readonly network: DeviceNetwork;
}

/** A VLAN interface of the agent's that no network uses any more, or the device of a bridge that is gone. */
export interface AbsentLinkOutput {
  readonly kind: 'absent-link';
  readonly name: DeviceName;
}

/** Of the node's own interfaces. */
export type HostLinkOutput = MoveOutput | RenamedLinkOutput | UsedLinkOutput | VlanLinkOutput | AbsentLinkOutput;

/** Keys of `Open_vSwitch.external_ids`; others stay. */
export interface SettingsOutput {
  readonly kind: 'settings';
  readonly externalIds: Readonly<Record<string, string>>;
}

/** A port with one Interface of its name in a bridge; other keys of its `external_ids` stay. */
export interface PortOutput {
  readonly kind: 'port';
  readonly name: DeviceName;
  readonly bridge: string;
  /** `internal`: Open vSwitch makes the device. */
  readonly type?: 'internal';
  readonly externalIds: Readonly<Record<string, string>>;
  /** Of packets that come in by it; missing for none. */
  readonly policing?: PortPolicing;
  /** For packets that go out by it; missing for none. */
  readonly queue?: PortQueue;
  /** The mirror of its bridge copies its packets. */
  readonly mirrored?: boolean;
}

/** In kbit/s and kbit. What is more is dropped. */
export interface PortPolicing {
  readonly rate: number;
  readonly burst: number;
}

export type PortQueue =
  /** In bit/s and bit. */
  | { readonly kind: 'rate'; readonly rate: number; readonly burst: number }
  /** In microseconds, packets and percent; 0 for none. */
  | { readonly kind: 'impairment'; readonly latency: number; readonly jitter: number; readonly limit: number; readonly loss: number };

/** The queue that the device of a port with limits has in the kernel, once Open vSwitch has made it. */
export interface QueueOutput {
  readonly kind: 'queue';
  readonly name: DeviceName;
  /** Of the root of the device. */
  readonly discipline: 'htb' | 'netem';
  /** `namespace/name`, for people. */
  readonly pod: string;
}

/** Copies packets of ports of a bridge to another of its ports. It is never removed by a rule. */
export interface MirrorOutput {
  readonly kind: 'mirror';
  readonly name: string;
  readonly bridge: string;
  readonly port: DeviceName;
}

/** A pair of devices, one end on the node and one in a pod's namespace. */
export interface DeviceOutput {
  readonly kind: 'device';
  readonly name: DeviceName;
  readonly attachment: AttachmentKey;
  /** Of the end on the node, from its first moment on. */
  readonly alias: string;
  readonly namespacePath: string;
  /** In the namespace. */
  readonly innerName: string;
  readonly mac: string;
  readonly mtu: number;
  readonly addresses: readonly string[];
  /** It has no others. Missing: those that it has stay, since a program in the pod may have set them. */
  readonly exclusive?: true;
  readonly routes: readonly DeviceRoute[];
  /** False for the userspace datapath, which sends packets as the pod's kernel leaves them. */
  readonly checksumOffload: boolean;
  /** Whether its port passes packets. False: addresses and routes stay as they are, since no host could answer for an address in use. */
  readonly connected: boolean;
  /** False: an address is taken without asking the network; another host has it for now (the source of a live migration). */
  readonly detectsDuplicates: boolean;
  /** Milliseconds between two questions for an address. */
  readonly probeMs: number;
  /** They are asked before an address is set. */
  readonly gateways: readonly string[];
  /** They have to answer before the interface is used. */
  readonly needsGateways: boolean;
  /**
   * It is a virtual machine's, or a pod's whose runtime may have a network of its own, as Kata and gVisor: they take addresses, names and MAC
   * addresses away from the device, and nothing of that is undone. With an address on both, the kernel would refuse the pod's connections.
   */
  readonly ofMachine?: true;
}

export interface DeviceRoute {
  /** A CIDR. */
  readonly destination: string;
  readonly gateway: string;
  /** The node's own address in packets that it sends by this route. */
  readonly source?: string;
}

/** A device of the node that Open vSwitch makes. All its routes are the agent's. */
export interface LinkOutput {
  readonly kind: 'link';
  readonly name: DeviceName;
  /** Undefined: as it is. */
  readonly mac: string | undefined;
  /** Undefined: as it is. Open vSwitch gives internal ports that of the smallest device of their bridge. */
  readonly mtu: number | undefined;
  readonly addresses: readonly string[];
  readonly routes: readonly DeviceRoute[];
}

/** A network namespace of the node itself, which forwards what routers of Vpcs send to the outside over this node. */
export interface GatewayNamespaceOutput {
  readonly kind: 'gateway-namespace';
  /** As `ip netns` has it. */
  readonly name: string;
}

/** Routers of Vpcs get answers to BFD in it. */
export interface BfdResponderOutput {
  readonly kind: 'bfd-responder';
  readonly namespacePath: string;
  /** They are asked from these. */
  readonly networks: readonly string[];
}

/** The agent's table of nftables, as a script without the table's own line. */
export interface PacketFilterOutput {
  readonly kind: 'packet-filter';
  readonly script: string;
}

/** Likewise the table for kubelet's probes; with an empty script there is none. */
export interface ProbeFilterOutput {
  readonly kind: 'probe-filter';
  readonly script: string;
  /** In which `nft` reads it. */
  readonly cgroupNamespace?: string;
}

/** A port of a pod that kubelet probes, and the node does not reach. Several pods may have one address and port. */
export interface ProbedPodOutput {
  readonly kind: 'probed-pod';
  /** `namespace/name`. */
  readonly pod: string;
  readonly address: string;
  readonly port: number;
  readonly namespacePath: string;
  /** Those of this port. */
  readonly probes: readonly Probe[];
  /** Of the images of its node: no pod has their addresses for kubelet. */
  readonly registries: readonly string[];
}

/** A pod that kubelet cannot probe: its address has another owner. */
export interface UnprobedPodOutput {
  readonly kind: 'unprobed-pod';
  readonly pod: string;
  readonly address: string;
  /** As words: `Subnet join of the default Vpc`. */
  readonly owner: string;
}

/** A route of a table of its own, or a rule that sends packets to such a table, as `ip` takes it: `default via 172.18.0.9 table 1001`. */
export interface RoutingOutput {
  readonly kind: 'routing';
  readonly family: 4 | 6;
  readonly part: 'rule' | 'route';
  readonly text: string;
}

/** A device of the node whose packets the firewalls of other programs have to let through. */
export interface AcceptedDeviceOutput {
  readonly kind: 'accepted-device';
  readonly device: DeviceName;
}

/** A port stays as it is: what it should be is not known now. */
export interface RetainedPortOutput {
  readonly kind: 'retained-port';
  readonly name: DeviceName;
}

/** Likewise a device, which is read. */
export interface RetainedDeviceOutput {
  readonly kind: 'retained-device';
  readonly name: DeviceName;
  readonly namespacePath: string;
  readonly innerName: string;
}

/** Annotations and labels of an object of the API server; null removes one, others stay. */
export interface ObjectMetadataOutput {
  readonly kind: 'object-metadata';
  readonly resource: WrittenResource;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
}

/** A condition in the status of an object of the API server. */
export interface ObjectConditionOutput {
  readonly kind: 'object-condition';
  readonly resource: WrittenResource;
  readonly name: string;
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

type Writes = typeof AGENT_WRITES;
/** One that the record of its kind declares. */
export type EventReason = { [K in keyof Writes]: Writes[K] extends { readonly events: readonly (infer R)[] } ? R : never }[keyof Writes];

/** An Event of type Warning about an object of the API server. It is told once, and again if it ended meanwhile. */
export interface ObjectEventOutput {
  readonly kind: 'object-event';
  readonly resource: AgentResource;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly reason: EventReason;
  readonly message: string;
}

/** As `kubectl` takes it: `plural/name`. */
export function objectId({ resource, name }: Pick<ObjectMetadataOutput, 'resource' | 'name'>): string {
  return `${resource}/${name}`;
}

/** Fields of the status of an object of the API server; others stay. */
export interface ObjectStatusOutput {
  readonly kind: 'object-status';
  readonly resource: WrittenResource;
  readonly name: string;
  readonly fields: Readonly<Record<string, boolean>>;
}

/** The state of an attachment for the runtime that asked for it. */
export interface AnswerOutput {
  readonly kind: 'answer';
  readonly attachment: AttachmentKey;
  readonly answer: Answer;
}

export type Answer =
  | { readonly kind: 'ready'; readonly reply: InterfaceReply }
  /** What is missing, as a sentence for the pod's Event. */
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      /** Of the pod that was observed, if one was. */
      readonly podUid?: string | undefined;
    }
  /** It cannot be done, and waiting does not help: the request ends at once. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Its namespace is gone, with the pod or to another sandbox of it, and the runtime did not ask to remove it. */
  | { readonly kind: 'abandoned' }
  /** Nothing of it is left. */
  | { readonly kind: 'removed' };

export type PortPartOutput =
  | PortOutput
  | MirrorOutput
  | BridgeOutput
  | ProviderBridgeOutput
  | UplinkPortOutput
  | BridgeMappingsOutput
  | SettingsOutput
  | RetainedPortOutput;
export type DevicePartOutput = DeviceOutput | LinkOutput | RetainedDeviceOutput;
export type NodeOutput =
  | PortPartOutput
  | DevicePartOutput
  | QueueOutput
  | RoutingOutput
  | PacketFilterOutput
  | ProbeFilterOutput
  | ProbedPodOutput
  | UnprobedPodOutput
  | AcceptedDeviceOutput
  | HostLinkOutput
  | GatewayNamespaceOutput
  | BfdResponderOutput
  | ObjectMetadataOutput
  | ObjectConditionOutput
  | ObjectStatusOutput
  | ObjectEventOutput
  | AnswerOutput;
