/**
 * The parts of a kind's record: one file each in the folder of the kind, which exports a constant of that name. Each part belongs to a layer
 * (a folder of `src`), and may import what that layer may. Only `resource` is needed; a kind has the parts that it has something to say in.
 */
export interface Part {
  /** Name of the file, and in code of the constant: `agentTable` of `agent-table.ts`. */
  readonly name: string;
  /** Folder of `src` with the same imports, as `test/layering.test.ts` has them. */
  readonly layer: string;
  /** The generated file with this part of every kind, and its constant. */
  readonly file: string;
  readonly constant: string;
}

export const PARTS: readonly Part[] = [
  { name: 'resource', layer: 'api', file: 'resources', constant: 'RESOURCES' },
  { name: 'table', layer: 'world', file: 'tables', constant: 'TABLES' },
  { name: 'dependencies', layer: 'blockers', file: 'dependencies', constant: 'DEPENDENCIES_OF_KINDS' },
  { name: 'rules', layer: 'compile', file: 'rules', constant: 'RULES_OF_KINDS' },
  { name: 'ineffective', layer: 'compile', file: 'ineffective', constant: 'INEFFECTIVE_OF_KINDS' },
  { name: 'metrics', layer: 'controller', file: 'metrics', constant: 'METRICS_OF_KINDS' },
  { name: 'events', layer: 'controller', file: 'events', constant: 'EVENTS_OF_KINDS' },
  { name: 'words', layer: 'explain', file: 'words', constant: 'WORDS_OF_KINDS' },
  { name: 'admission', layer: 'webhook', file: 'admission', constant: 'ADMISSION_OF_KINDS' },
  { name: 'rights', layer: 'webhook', file: 'rights', constant: 'RIGHTS_OF_KINDS' },
  { name: 'commands', layer: 'cli', file: 'commands', constant: 'COMMANDS_OF_KINDS' },
  { name: 'agent-writes', layer: 'api', file: 'agent-writes', constant: 'AGENT_WRITES' },
  { name: 'agent-table', layer: 'agent', file: 'agent-tables', constant: 'AGENT_TABLES' },
  { name: 'agent-rules', layer: 'agent', file: 'agent-rules', constant: 'AGENT_RULES_OF_KINDS' },
  { name: 'invariants', layer: 'invariants', file: 'invariants', constant: 'INVARIANTS_OF_KINDS' },
  { name: 'simulator', layer: 'testing', file: 'simulator', constant: 'SIMULATOR_OF_KINDS' },
];

/** The folder of the generated files. */
export const GENERATED = 'generated';
