import { join } from 'node:path';
import { NodeAgent } from '../../src/agent/agent.ts';
import { hostPrograms, inNamespace, type Programs } from '../../src/agent/kernel/programs.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Log } from '../../src/runtime/log.ts';
import { systemClock } from '../../src/timing/clock.ts';
import { PacketNode, type PacketNodeOptions } from '../node/packet-node.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');

export interface AgentNodeOptions extends PacketNodeOptions {
  readonly client: KubeClient;
  /** Endpoint of the Southbound database. */
  readonly southbound: string;
  readonly log: Log;
}

/** A node with its agent. The agent is a part of this process; the programs that it runs are in the node's namespace. */
export class AgentNode implements AsyncDisposable {
  readonly node: PacketNode;
  /** The agent's, for the plugin. */
  readonly socket: string;
  readonly #start: () => NodeAgent;
  #agent: NodeAgent | undefined;

  private constructor(node: PacketNode, { directory, client, southbound, log }: AgentNodeOptions) {
    this.node = node;
    this.socket = join(directory, 'agent.sock');
    const programs: Programs = {
      ...hostPrograms,
      run: (command, input) => hostPrograms.run(inNamespace(node.namespace.path, ...command), input),
      watch: (command, watching) => hostPrograms.watch(inNamespace(node.namespace.path, ...command), watching),
    };
    const { name, gatewayNamespace } = node;
    const settings = {
      ...({ node: name, southbound, tunnel: 'geneve', datapath: 'netdev', defaultVpc: 'ovn-cluster', mtu: 1400 } as const),
      gatewayNamespace,
    };
    const program = [process.execPath, MAIN] as const;
    this.#start = () =>
      new NodeAgent({ settings, client, vswitch: node.vswitch.endpoint, socket: this.socket, programs, program, clock: systemClock, log });
  }

  /** Starts node, agent and ovn-controller. */
  static async start(options: AgentNodeOptions): Promise<AgentNode> {
    const node = await PacketNode.start(options);
    const agent = new AgentNode(node, options);
    try {
      await agent.startAgent();
      await node.vswitch.restart('ovn-controller');
    } catch (error) {
      await agent.delete();
      throw error;
    }
    return agent;
  }

  async startAgent(): Promise<void> {
    this.#agent = this.#start();
    await this.#agent.start();
  }

  async stopAgent(): Promise<void> {
    await this.#agent?.stop();
    this.#agent = undefined;
  }

  /** Ends agent and node; nothing of them is left. */
  async delete(): Promise<void> {
    await this.stopAgent();
    await this.node.delete();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}
