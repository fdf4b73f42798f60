/** The program without commands. */
import { Command } from 'commander';
import { VERSION } from '../runtime/version.ts';

export function baseProgram(): Command {
  return new Command('kiln')
    .description('A control plane for Kubernetes networking on OVN')
    .version(VERSION)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));
}
