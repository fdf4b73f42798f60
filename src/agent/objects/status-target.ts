/** The status of objects that rules change, as a target: conditions, which are written when they change and never as a heartbeat, and fields. */
import type { KubeClient } from '../../kube/client/client.ts';
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import { AGENT_TABLES } from '../../kinds/generated/agent-tables.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Table } from '../../engine/table.ts';
import type { Retries } from '../retries.ts';
import type { NodeWorld } from '../world/node-world.ts';
import { isDeclared } from './declared-writes.ts';
import { objectId, type ObjectConditionOutput, type ObjectStatusOutput } from '../world/outputs.ts';

type StatusOutput = ObjectConditionOutput | ObjectStatusOutput;

export interface StatusTargetOptions {
  readonly client: KubeClient;
  readonly world: NodeWorld;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class StatusTarget implements Target {
  readonly name = 'the status of objects';
  readonly busy = false;
  /** The target of objects observes them. */
  readonly observed = true;
  readonly waitingFor: readonly string[] = [];
  readonly desired = new KeyedOutputs<StatusOutput>(['object-condition', 'object-status'], statusId);
  readonly #options: StatusTargetOptions;
  #sent = false;
  #stopped = false;

  constructor(options: StatusTargetOptions) {
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

  /** The output, if the object does not have it like this. */
  #missing(id: string): StatusOutput | undefined {
    const [output] = this.desired.of(id);
    const object = output && this.#options.world.written(output);
    if (output === undefined || object === undefined || !isDeclared(output, this.#options.log)) return undefined;
    if (output.kind === 'object-status')
      return Object.entries(output.fields).every(([field, value]) => object.fields?.[field] === value) ? undefined : output;
    const present = object.conditions[output.type];
    const isSame = present?.status === output.status && present.reason === output.reason && present.message === output.message;
    return isSame ? undefined : output;
  }

  async #send(id: string, output: StatusOutput): Promise<void> {
    const { retries, log, wake } = this.#options;
    this.#sent = true;
    try {
      await (output.kind === 'object-status' ? this.#sendFields(output) : this.#sendCondition(output));
      retries.succeeded(id);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.warn('the status of an object could not be written; it will be tried again', { status: id, reason: why });
      retries.failed(id, why);
      this.desired.due.add(id);
    }
    this.#sent = false;
    wake();
  }

  async #sendFields({ resource, name, fields }: ObjectStatusOutput): Promise<void> {
    const { client, world } = this.#options;
    const { uid } = world.written({ resource, name }) ?? {};
    await client.mergePatch(AGENT_TABLES[resource].resource, { name }, { metadata: { uid }, status: fields }, { subresource: 'status' });
  }

  async #sendCondition(output: ObjectConditionOutput): Promise<void> {
    const { client, world, clock } = this.#options;
    const { resource, name, type, status, reason, message } = output;
    const { uid, conditions } = world.written(output) ?? {};
    const present = conditions?.[type];
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
  }
}

function statusId(output: StatusOutput): string {
  return output.kind === 'object-status' ? `status of ${objectId(output)}` : `condition ${output.type} of ${objectId(output)}`;
}
