import { NetworkNamespace, type PingOptions } from './namespace.ts';

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

  /** As `NetworkNamespace.reaches`. */
  async reaches(address: string, options?: PingOptions): Promise<boolean> {
    return await this.namespace.reaches(address, options);
  }

  async delete(): Promise<void> {
    await this.namespace.delete();
  }
}
