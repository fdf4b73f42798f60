/** Events about objects of the API server, as a target: one is told when a rule begins to emit it, and it is no more than a message. */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import { AGENT_TABLES } from '../../kinds/generated/agent-tables.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import type { Target } from '../../engine/target.ts';
import type { ObjectEventOutput } from '../world/outputs.ts';

/** Of the Events, and of the process in `kubectl describe`. */
export const COMPONENT = 'kiln-agent';

export class EventsTarget implements Target {
  readonly name = 'the Events of objects';
  readonly busy = false;
  /** Best effort: no other target waits for it. */
  readonly observed = true;
  readonly quiet = true;
  readonly waitingFor: readonly string[] = [];
  readonly desired = new KeyedOutputs<ObjectEventOutput>(['object-event'], eventId);
  readonly #recorder: Pick<EventRecorder, 'record' | 'close'>;
  /** Those that hold and were told. */
  readonly #told = new Set<string>();

  constructor(recorder: Pick<EventRecorder, 'record' | 'close'>) {
    this.#recorder = recorder;
  }

  start(): void {}

  async stop(): Promise<void> {
    await this.#recorder.close();
  }

  examineAll(): void {}

  plan(): readonly unknown[] {
    return [];
  }

  flush(): boolean {
    for (const id of this.desired.due) {
      const [output] = this.desired.of(id);
      if (output === undefined) this.#told.delete(id);
      else if (!this.#told.has(id)) this.#tell(id, output);
    }
    this.desired.due.clear();
    return true;
  }

  #tell(id: string, { resource, namespace, name, uid, reason, message }: ObjectEventOutput): void {
    this.#told.add(id);
    const target = { resource: AGENT_TABLES[resource].resource, namespace, name, uid };
    this.#recorder.record({ target, type: 'Warning', reason, message });
  }
}

function eventId({ resource, namespace, name, uid, reason, message }: ObjectEventOutput): string {
  return `${resource} ${namespace}/${name} ${uid} ${reason} ${message}`;
}
