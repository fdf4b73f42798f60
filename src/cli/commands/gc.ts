/** `kiln gc`: the collection of rows that nothing explains: the plan, and what a person decides about it. */
import type { Command } from 'commander';
import { addGcDecisions } from './gc-decisions.ts';
import { addGcPlan } from './gc-plan.ts';
import { addGcRun } from './gc-run.ts';

export function addGc(program: Command): void {
  const gc = program.command('gc').description('the collection of rows that no object asks for');
  addGcPlan(gc);
  addGcRun(gc);
  addGcDecisions(gc);
}
