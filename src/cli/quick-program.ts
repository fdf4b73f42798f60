/**
 * The program with the one command that is run: loading the code of all commands takes longer than most of them. Help of the program, mistyped
 * names and commands that are not listed here get the whole program.
 */
import type { Command } from 'commander';
import { baseProgram } from './base-program.ts';
import { explainUsageErrors } from './errors/usage-error.ts';

type Add = (program: Command) => void;

/** Commands about a cluster, by name. */
export const QUICK: Readonly<Record<string, () => Promise<Add>>> = {
  audit: async () => (await import('./commands/audit.ts')).addAudit,
  explain: withRules(async () => (await import('./commands/explain.ts')).addExplain),
  delete: withRules(async () => (await import('./commands/delete.ts')).addDelete),
  diff: async () => (await import('./commands/diff.ts')).addDiff,
  repair: async () => (await import('./commands/repair.ts')).addRepair,
  plan: async () => (await import('./commands/plan.ts')).addPlan,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrate,
  status: withRules(async () => (await import('./commands/status.ts')).addStatus),
  wait: async () => (await import('./commands/wait.ts')).addWait,
  gc: async () => (await import('./commands/gc.ts')).addGc,
  neighbours: async () => (await import('./commands/neighbours.ts')).addNeighbours,
  history: async () => (await import('./commands/history.ts')).addHistory,
  version: async () => (await import('./commands/version.ts')).addVersion,
  lab: async () => (await import('./commands/lab.ts')).addLab,
};

/** For a command that reads a World and loads no rules of its own: the graph of dependencies asks queries that the rules define. */
function withRules(load: () => Promise<Add>): () => Promise<Add> {
  return async () => (await Promise.all([load(), import('../compile/rules.ts')]))[0];
}

/** @param name the first word of the command line */
export async function programFor(name: string | undefined): Promise<Command> {
  const load = name !== undefined && Object.hasOwn(QUICK, name) ? QUICK[name] : undefined;
  if (load === undefined) return (await import('./program.ts')).program;
  const program = baseProgram();
  (await load())(program);
  explainUsageErrors(program);
  return program;
}
