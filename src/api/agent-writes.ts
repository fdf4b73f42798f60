/**
 * The part `agent-writes` of the record of a kind: what rules of a node agent may write to its objects. `deploy/agent-policy.yaml` is generated
 * from it, and the agent's targets write nothing else: so what a rule writes is admitted, and nothing else is.
 */
export interface AgentWrites {
  /** The object with the name of the node, or all that concern it. */
  readonly of: 'node' | 'events';
  /** Keys; one that begins with a dot stands for all that end with it. */
  readonly annotations?: readonly string[];
  readonly labels?: readonly string[];
  /** Types of conditions. */
  readonly conditions?: readonly string[];
  /** Fields of the status. */
  readonly status?: readonly string[];
  /** Reasons of Events about an object. */
  readonly events?: readonly string[];
}

/** Whether it is one of these keys. */
export function isOneOf(keys: readonly string[] = [], key: string): boolean {
  return keys.some((one) => (one.startsWith('.') ? key.endsWith(one) && key !== one : key === one));
}
