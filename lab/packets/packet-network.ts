import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Log } from '../../src/runtime/log.ts';
import type { LabNode } from '../kubelet/lab-node.ts';
import { Underlay } from '../node/underlay.ts';
import type { OvnInstallation } from '../programs/ovn.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { AgentNode } from './agent-node.ts';
import { PodSandboxes } from './pod-sandboxes.ts';
import { SandboxFiles } from './sandbox-files.ts';

export interface PacketNetworkOptions {
  /** Their first address is that in the underlay. */
  readonly nodes: readonly LabNode[];
  /** For the agents. The caller closes it. */
  readonly client: KubeClient;
  /** Endpoint of the Southbound database. */
  readonly southbound: string;
  readonly installation: OvnInstallation;
  /** The folder of the laboratory. Sockets are in a temporary folder, whose path is short enough for them. */
  readonly directory: string;
  readonly log: Log;
}

/** The nodes of a laboratory with packets: an underlay, in it nodes with Open vSwitch and an agent each, and the sandboxes of their pods. */
export class PacketNetwork implements AsyncDisposable {
  readonly underlay: Underlay;
  readonly nodes: readonly AgentNode[];
  readonly sandboxes: PodSandboxes;
  readonly #stops: readonly (() => Promise<void>)[];

  private constructor(underlay: Underlay, nodes: readonly AgentNode[], sandboxes: PodSandboxes, stops: readonly (() => Promise<void>)[]) {
    this.underlay = underlay;
    this.nodes = nodes;
    this.sandboxes = sandboxes;
    this.#stops = stops;
  }

  /** Starts all of it; if a part fails, ends those that started. Each node takes a second. */
  static async start(options: PacketNetworkOptions): Promise<PacketNetwork> {
    const { client, southbound, installation, log } = options;
    const stops: (() => Promise<void>)[] = [];
    try {
      const files = new SandboxFiles(options.directory);
      await files.create();
      stops.unshift(() => files.delete());
      const folder = await makeTemporaryFolder('kiln-nodes-');
      stops.unshift(() => rm(folder, { recursive: true, force: true }));
      const underlay = await Underlay.create();
      stops.unshift(() => underlay.delete());
      const nodes: AgentNode[] = [];
      for (const { name, addresses } of options.nodes) {
        const place = { name, address: `${addresses[0]}/16`, underlay, installation, directory: join(folder, name) } as const;
        const node = await AgentNode.start({ ...place, client, southbound, log: logOfNode(log, name) });
        stops.unshift(() => node.delete());
        nodes.push(node);
      }
      const sandboxes = new PodSandboxes(nodes, files);
      stops.unshift(() => sandboxes.deleteAll());
      return new PacketNetwork(underlay, nodes, sandboxes, stops);
    } catch (error) {
      for (const stop of stops) await stop();
      throw error;
    }
  }

  async delete(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}

function logOfNode(log: Log, node: string): Log {
  return {
    debug: (message, fields) => log.debug(message, { node, ...fields }),
    info: (message, fields) => log.info(message, { node, ...fields }),
    warn: (message, fields) => log.warn(message, { node, ...fields }),
    error: (message, fields) => log.error(message, { node, ...fields }),
  };
}
