import { NetworkNamespace } from './namespace.ts';

/** An address with the length of its prefix: `172.18.0.2/16`. */
export type PrefixedAddress = `${string}/${number}`;

const BRIDGE = 'underlay';
/** The router of the underlay: next hop of the nodes. */
const ROUTER: PrefixedAddress = '172.18.0.1/16';
const ROUTER6: PrefixedAddress = 'fd18::1/64';

/**
 * The physical network of the nodes: a Linux bridge in a namespace of its own, so that it never collides with a network of the host. The
 * bridge has the address of the router.
 */
export class Underlay implements AsyncDisposable {
  readonly namespace: NetworkNamespace;
  #ports = 0;

  private constructor(namespace: NetworkNamespace) {
    this.namespace = namespace;
  }

  /** @throws ProgramError without the right to create namespaces */
  static async create(): Promise<Underlay> {
    const underlay = new Underlay(await NetworkNamespace.create('underlay'));
    const { namespace } = underlay;
    await namespace.run('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
    await namespace.run('ip', 'address', 'add', ROUTER, 'dev', BRIDGE);
    await namespace.run('ip', 'address', 'add', ROUTER6, 'dev', BRIDGE, 'nodad');
    await namespace.run('ip', 'link', 'set', BRIDGE, 'up');
    await computeChecksums(namespace, BRIDGE);
    await namespace.run('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
    return underlay;
  }

  get router(): string {
    return ROUTER.slice(0, ROUTER.indexOf('/'));
  }

  get router6(): string {
    return ROUTER6.slice(0, ROUTER6.indexOf('/'));
  }

  /** Connects a namespace: it gets an interface with this name in the bridge, up and without address. */
  async connect(other: NetworkNamespace, device: string): Promise<void> {
    this.#ports += 1;
    const port = `port${this.#ports}`;
    await this.namespace.run('ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', device, 'netns', other.path);
    await this.namespace.run('ip', 'link', 'set', port, 'master', BRIDGE, 'up');
    await other.run('ip', 'link', 'set', device, 'up');
  }

  /** A host outside of the cluster, which knows no route to any pod. */
  async addOutsideHost(...addresses: readonly PrefixedAddress[]): Promise<NetworkNamespace> {
    const host = await NetworkNamespace.create('outside');
    await this.connect(host, 'eth0');
    await computeChecksums(host, 'eth0');
    for (const address of addresses)
      await host.run('ip', 'address', 'add', address, 'dev', 'eth0', ...(address.includes(':') ? ['nodad'] : []));
    return host;
  }

  async delete(): Promise<void> {
    await this.namespace.delete();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}

/** A userspace datapath gets packets as the sender left them: without their checksum, which the receiver then finds wrong. */
async function computeChecksums(namespace: NetworkNamespace, device: string): Promise<void> {
  await namespace.run('ethtool', '-K', device, 'tx', 'off');
}
