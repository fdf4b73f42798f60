/** What rules may write to objects of the API server. Policies admit that alone, so anything else would take what is in the same patch with it. */
import { type AgentWrites, isOneOf } from '../../api/agent-writes.ts';
import { AGENT_WRITES } from '../../kinds/generated/agent-writes.ts';
import type { Log } from '../../runtime/log.ts';
import type { ObjectConditionOutput, ObjectEventOutput, ObjectMetadataOutput, ObjectStatusOutput } from '../world/outputs.ts';

type ObjectOutput = ObjectMetadataOutput | ObjectConditionOutput | ObjectStatusOutput | ObjectEventOutput;

const WRITES: Readonly<Partial<Record<string, AgentWrites>>> = AGENT_WRITES;

/** What of an output the record of its kind does not declare. */
export function undeclared(output: ObjectOutput): readonly string[] {
  const { annotations, labels, conditions, status, events }: Partial<AgentWrites> = WRITES[output.resource] ?? {};
  const others = (what: string, keys: readonly string[], declared: readonly string[] | undefined): readonly string[] =>
    keys.filter((key) => !isOneOf(declared, key)).map((key) => `${what} ${key} of ${output.resource}`);
  switch (output.kind) {
    case 'object-metadata':
      return [
        ...others('annotation', Object.keys(output.annotations), annotations),
        ...others('label', Object.keys(output.labels ?? {}), labels),
      ];
    case 'object-condition':
      return others('condition', [output.type], conditions);
    case 'object-status':
      return others('status', Object.keys(output.fields), status);
    case 'object-event':
      return others('Event', [output.reason], events);
  }
}

/** False, with an error in the log, for an output that is not declared: it is not sent. */
export function isDeclared(output: ObjectOutput, log: Log): boolean {
  const others = undeclared(output);
  if (others.length > 0)
    log.error('a rule writes what the record of its kind does not declare (agent-writes.ts), and no policy admits', { writes: others });
  return others.length === 0;
}
