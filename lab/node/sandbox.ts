import { NetworkNamespace } from './namespace.ts';

/** The network of a pod without a container runtime: an empty namespace, which a CNI plugin fills. */
export class Sandbox {
  readonly namespace: NetworkNamespace;
  /** As a container runtime gives it to a plugin. */
  readonly containerId: string;

  private constructor(namespace: NetworkNamespace, containerId: string) {
    this.namespace = namespace;
    this.containerId = containerId;
  }

  static async create(pod: string, containerId: string): Promise<Sandbox> {
    return new Sandbox(await NetworkNamespace.create(pod), containerId);
  }

  /**
   * Whether an echo request is answered, of one every 100 ms for some seconds: the first packets of a tunnel wait for the neighbour entries of
   * the underlay. Works for IPv4 and IPv6.
   *
   * @param size bytes of payload, in one packet that must not be fragmented
   */
  async reaches(address: string, { seconds = 5, size }: { readonly seconds?: number; readonly size?: number } = {}): Promise<boolean> {
    const whole = size === undefined ? [] : ['-M', 'do', '-s', String(size)];
    const sent = this.namespace.run('ping', '-n', '-q', '-c', '1', '-i', '0.1', '-w', String(seconds), ...whole, address);
    return await sent.then(
      () => true,
      () => false,
    );
  }

  async delete(): Promise<void> {
    await this.namespace.delete();
  }
}
