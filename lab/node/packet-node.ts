import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { OvnInstallation } from '../programs/ovn.ts';
import { deleteNamespace, NetworkNamespace } from './namespace.ts';
import { type ControllerKeys, OpenVSwitch } from './open-vswitch.ts';
import type { PrefixedAddress, Underlay } from './underlay.ts';

/** Holds the node's interface and address: a userspace datapath sends tunnels only through a bridge of its own. */
export const PHYSICAL_BRIDGE = 'br-phy';
/** The node's interface in the underlay. */
const UPLINK = 'uplink';

export interface PacketNodeOptions {
  readonly name: string;
  readonly address: PrefixedAddress;
  /** Of IPv6, if it has one beside. */
  readonly address6?: PrefixedAddress;
  readonly underlay: Underlay;
  readonly installation: OvnInstallation;
  /** The folder of its database, sockets and logs. The path of a Unix socket has at most 107 bytes. */
  readonly directory: string;
  /** Of ovn-controller, for a Southbound database with TLS. */
  readonly keys?: ControllerKeys;
}

/**
 * A node as its machine is before any network plugin comes: a namespace with a running Open vSwitch, and its address in the underlay. The
 * bridge of OVN, the chassis and the interfaces of pods are left to the node agent, or to a test.
 */
export class PacketNode implements AsyncDisposable {
  readonly name: string;
  /** Without the length of the prefix. */
  readonly address: string;
  readonly address6: string | undefined;
  readonly namespace: NetworkNamespace;
  readonly vswitch: OpenVSwitch;
  readonly #options: PacketNodeOptions;

  private constructor(namespace: NetworkNamespace, vswitch: OpenVSwitch, options: PacketNodeOptions) {
    const { name, address, address6 } = options;
    this.name = name;
    this.address = address.slice(0, address.indexOf('/'));
    this.address6 = address6?.slice(0, address6.indexOf('/'));
    this.namespace = namespace;
    this.vswitch = vswitch;
    this.#options = options;
  }

  /** Starts all of it but ovn-controller. */
  static async start(options: PacketNodeOptions): Promise<PacketNode> {
    const { name, address, address6, underlay, installation, directory, keys } = options;
    const namespace = await NetworkNamespace.create(name);
    const vswitch = new OpenVSwitch(namespace, installation, join(directory, 'ovs'), keys);
    const node = new PacketNode(namespace, vswitch, options);
    try {
      await underlay.connect(namespace, UPLINK);
      await vswitch.start();
      const userspace = ['set', 'bridge', PHYSICAL_BRIDGE, 'datapath_type=netdev'];
      await vswitch.vsctl('add-br', PHYSICAL_BRIDGE, '--', ...userspace, '--', 'add-port', PHYSICAL_BRIDGE, UPLINK);
      await namespace.run('ip', 'link', 'set', PHYSICAL_BRIDGE, 'up');
      for (const own of [address, address6]) {
        if (own === undefined) continue;
        const [duplicates, router] = own.includes(':') ? [['nodad'], underlay.router6] : [[], underlay.router];
        await namespace.run('ip', 'address', 'add', own, 'dev', PHYSICAL_BRIDGE, ...duplicates);
        await namespace.run('ip', 'route', 'add', 'default', 'via', router);
      }
    } catch (error) {
      await node.delete();
      throw error;
    }
    return node;
  }

  /** Starts Open vSwitch, with an empty database if there is none, and makes the bridge with the node's interface and addresses. Its device may be there. */
  async setUp(): Promise<void> {
    const { namespace, vswitch } = this;
    const { address, address6, underlay } = this.#options;
    await vswitch.start();
    const userspace = ['set', 'bridge', PHYSICAL_BRIDGE, 'datapath_type=netdev'];
    await vswitch.vsctl('add-br', PHYSICAL_BRIDGE, '--', ...userspace, '--', 'add-port', PHYSICAL_BRIDGE, UPLINK);
    await namespace.run('ip', 'address', 'replace', address, 'dev', PHYSICAL_BRIDGE);
    await namespace.run('ip', 'link', 'set', PHYSICAL_BRIDGE, 'up');
    await namespace.run('ip', 'route', 'replace', 'default', 'via', underlay.router);
    if (address6 === undefined) return;
    await namespace.run('ip', 'address', 'replace', address6, 'dev', PHYSICAL_BRIDGE, 'nodad');
    await namespace.run('ip', 'route', 'replace', 'default', 'via', underlay.router6);
  }

  /** Of the node as an external gateway: all nodes have their namespaces in one folder. */
  get gatewayNamespace(): string {
    return `${this.namespace.name}-ovnext`;
  }

  /** Ends its daemons and deletes its namespaces. */
  async stop(): Promise<void> {
    await this.vswitch.stop();
    await this.namespace.delete();
    await deleteNamespace(this.gatewayNamespace);
  }

  /** The same, and deletes its folder. */
  async delete(): Promise<void> {
    await this.stop();
    await rm(this.#options.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}
