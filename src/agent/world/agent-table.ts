/** The part `agent-table` of the record of a kind: which of its objects a node agent observes, and what it keeps of each. */
import type { KubeObject, Resource } from '../../kube/resource.ts';
import type { Reactor } from '../../engine/reactor.ts';
import type { Indexes } from '../../engine/table.ts';
import { Table } from '../../engine/table.ts';

export interface AgentTable<T, V> {
  readonly resource: Resource;
  /** A field selector for the objects that concern a node. Missing: all do. */
  readonly selects?: (node: string) => string;
  /** A cluster may lack the kind. */
  readonly optional?: true;
  /** What rules read on a node. A pure function; it drops all else, since each node keeps a copy. */
  readonly view: (object: T, node: string) => V;
  readonly indexes?: Indexes<V>;
}

export type AgentTableOf<A> = A extends AgentTable<never, infer V> ? Table<V> : never;

export function agentTableOf<T extends KubeObject, V>(table: AgentTable<T, V>): AgentTable<T, V> {
  return table;
}

/** An empty table of the World of a node. @param name the resource */
export function openAgentTable<T, V>(reactor: Reactor, name: string, { indexes }: AgentTable<T, V>): Table<V> {
  return new Table<V>(reactor, name, indexes);
}

/** A view with these fields is of objects that the rules of a node may change: their annotations and labels, and their status. */
export interface WrittenObject {
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** Those of the types that a rule emits, without the times of heartbeats. */
  readonly conditions: Readonly<Partial<Record<string, ObservedCondition>>>;
  /** Fields of the status that a rule emits, as far as the object has them. Missing: none. */
  readonly fields?: Readonly<Partial<Record<string, boolean>>>;
}

/** As the API server has it. */
export interface ObservedCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}
