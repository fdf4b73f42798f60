/** `kiln migrate`: from Kube-OVN to Kiln, and back. */
import type { Command } from 'commander';
import { addMigrateBack } from './migrate-back.ts';
import { addMigratePlan } from './migrate-plan.ts';

export function addMigrate(program: Command): void {
  const migrate = program.command('migrate').description('from Kube-OVN to Kiln, and back');
  addMigratePlan(migrate);
  addMigrateBack(migrate);
}
