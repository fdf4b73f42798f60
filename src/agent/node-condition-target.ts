/** A condition of the Node object as a target. It is written when its status, reason or message changes, and never as a heartbeat. */
import type { KubeClient } from '../kube/client/client.ts';
import { KeyedOutputs } from '../compile/keyed-outputs.ts';
import type { Resource } from '../kube/resource.ts';
import type { Log } from '../runtime/log.ts';
import type { Target } from '../target/target.ts';
import type { Clock } from '../timing/clock.ts';
import type { Retries } from './retries.ts';
import type { NodeWorld } from './world/node-world.ts';
import type { NodeConditionOutput } from './world/outputs.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

export interface NodeConditionTargetOptions {
  readonly client: KubeClient;
  readonly world: NodeWorld;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class NodeConditionTarget implements Target {
  readonly name = 'the condition of the node';
  readonly busy = false;
  /** The Node is observed by the target of the API server. */
  readonly observed = true;
  readonly waitingFor: readonly string[] = [];
  readonly desired = new KeyedOutputs<NodeConditionOutput>(['node-condition'], ({ node }) => node);
  readonly #options: NodeConditionTargetOptions;
  #sent = false;
  #stopped = false;

  constructor(options: NodeConditionTargetOptions) {
    this.#options = options;
    options.world.nodes.onChange((node) => this.desired.due.add(node));
  }

  get quiet(): boolean {
    return this.desired.due.size === 0 && !this.#sent;
  }

  start(): void {}

  async stop(): Promise<void> {
    this.#stopped = true;
    while (this.#sent) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  examineAll(): void {
    for (const node of this.desired.ids) this.desired.due.add(node);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (node) => this.#missing(node)).filter((one) => one !== undefined);
  }

  flush(): boolean {
    for (const node of this.desired.due) {
      if (this.#sent || this.#stopped || this.#options.retries.mustWait(idOf(node))) break;
      this.desired.due.delete(node);
      const missing = this.#missing(node);
      if (missing !== undefined) void this.#send(missing);
      // A write may have had its effect although its answer was lost.
      else this.#options.retries.succeeded(idOf(node));
    }
    return true;
  }

  /** The condition, if the Node does not have it like this. */
  #missing(name: string): NodeConditionOutput | undefined {
    const [output] = this.desired.of(name);
    const node = this.#options.world.nodes.peek(name);
    if (output === undefined || node === undefined) return undefined;
    const present = node.networkUnavailable;
    const isSame = present?.status === output.status && present.reason === output.reason && present.message === output.message;
    return isSame ? undefined : output;
  }

  async #send({ node, type, status, reason, message }: NodeConditionOutput): Promise<void> {
    const { client, world, retries, clock, log, wake } = this.#options;
    const { uid, networkUnavailable: present } = world.nodes.peek(node) ?? {};
    this.#sent = true;
    try {
      const now = new Date(clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
      const lastTransitionTime = present?.status === status ? present.lastTransitionTime : now;
      const condition = { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
      // Conditions of others merge by their type.
      await client.strategicPatch(
        NODES,
        { name: node },
        { metadata: { uid }, status: { conditions: [condition] } },
        { subresource: 'status' },
      );
      retries.succeeded(idOf(node));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.warn('the condition of the node could not be written; it will be tried again', { node, reason: why });
      retries.failed(idOf(node), why);
      this.desired.due.add(node);
    }
    this.#sent = false;
    wake();
  }
}

function idOf(node: string): string {
  return `condition of node ${node}`;
}
