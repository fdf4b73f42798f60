/** Conditions of objects that rules change, as a target. It is written when its status, reason or message changes, and never as a heartbeat. */
import type { KubeClient } from '../../kube/client/client.ts';
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import { AGENT_TABLES } from '../../kinds/generated/agent-tables.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../target/target.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Table } from '../../world/table.ts';
import type { Retries } from '../retries.ts';
import type { NodeWorld } from '../world/node-world.ts';
import { objectId, type ObjectConditionOutput } from '../world/outputs.ts';

export interface ConditionsTargetOptions {
  readonly client: KubeClient;
  readonly world: NodeWorld;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class ConditionsTarget implements Target {
  readonly name = 'conditions of objects';
  readonly busy = false;
  /** The target of objects observes them. */
  readonly observed = true;
  readonly waitingFor: readonly string[] = [];
  readonly desired = new KeyedOutputs<ObjectConditionOutput>(
    ['object-condition'],
    (output) => `condition ${output.type} of ${objectId(output)}`,
  );
  readonly #options: ConditionsTargetOptions;
  #sent = false;
  #stopped = false;

  constructor(options: ConditionsTargetOptions) {
    this.#options = options;
    for (const table of Object.values(options.world.tablesOfKinds()) as readonly Table<unknown>[]) table.onChange(() => this.examineAll());
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
    for (const id of this.desired.ids) this.desired.due.add(id);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (id) => this.#missing(id)).filter((one) => one !== undefined);
  }

  flush(): boolean {
    for (const id of this.desired.due) {
      if (this.#sent || this.#stopped) break;
      if (this.#options.retries.mustWait(id)) continue;
      this.desired.due.delete(id);
      const missing = this.#missing(id);
      if (missing !== undefined) void this.#send(id, missing);
      // A write may have had its effect although its answer was lost.
      else this.#options.retries.succeeded(id);
    }
    return true;
  }

  /** The condition, if the object does not have it like this. */
  #missing(id: string): ObjectConditionOutput | undefined {
    const [output] = this.desired.of(id);
    const object = output && this.#options.world.written(output);
    if (output === undefined || object === undefined) return undefined;
    const present = object.conditions[output.type];
    const isSame = present?.status === output.status && present.reason === output.reason && present.message === output.message;
    return isSame ? undefined : output;
  }

  async #send(id: string, output: ObjectConditionOutput): Promise<void> {
    const { client, world, retries, clock, log, wake } = this.#options;
    const { resource, name, type, status, reason, message } = output;
    const { uid, conditions } = world.written(output) ?? {};
    const present = conditions?.[type];
    this.#sent = true;
    try {
      const now = new Date(clock.wallTime()).toISOString().replace(/\.\d+Z$/, 'Z');
      const lastTransitionTime = present?.status === status ? present.lastTransitionTime : now;
      const condition = { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime };
      // Conditions of others merge by their type.
      await client.strategicPatch(
        AGENT_TABLES[resource].resource,
        { name },
        { metadata: { uid }, status: { conditions: [condition] } },
        { subresource: 'status' },
      );
      retries.succeeded(id);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.warn('a condition could not be written; it will be tried again', { condition: id, reason: why });
      retries.failed(id, why);
      this.desired.due.add(id);
    }
    this.#sent = false;
    wake();
  }
}
