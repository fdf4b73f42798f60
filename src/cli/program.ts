/**
 * The commands and their flags.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from '../runtime/log.ts';
import { start } from './commands/start.ts';
import type { StartFlags } from './commands/start.ts';
import { DEFAULT_DIRECTORY } from './defaults.ts';
import { addNetworkFlags } from './network-flags.ts';

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new InvalidArgumentError(`"${text}" is not a whole number from ${least} to ${most}.`);
    return value;
  };
}

function seconds(text: string): number {
  const value = Number(text.replace(/s$/, ''));
  if (!Number.isFinite(value) || value < 0.1 || value > 3_600)
    throw new InvalidArgumentError(`"${text}" is not a number of seconds from 0.1 to 3600.`);
  return value;
}

export const program = new Command('kiln')
  .description('A control plane for Kubernetes networking on OVN')
  .version('0.1.0')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

const startCommand = program
  .command('start')
  .description('start a laboratory with a demo, or run the controller on a cluster')
  .addHelpText(
    'before',
    'Examples:\n  kiln start                       a laboratory: real OVN, embedded API server, demo\n  kiln start --check               prove the demo and leave\n  kiln start --kubeconfig ~/.kube/config --ovn-nb tcp:10.0.0.1:6641,tcp:10.0.0.2:6641\n',
  )
  .option('--check', 'apply the demo, prove what it does, delete it, prove that nothing is left; exit 0 or 1')
  .option('--kubeconfig <file>', 'run the controller on this cluster instead of a laboratory')
  .option('--context <name>', 'context of the kubeconfig')
  .option('--in-cluster', 'run the controller on the cluster this pod is in')
  .option('--ovn-nb <endpoints>', 'Northbound database: unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT, several with commas')
  .option('--ovn-ca <file>', 'CA certificate for ssl endpoints')
  .option('--ovn-cert <file>', 'client certificate for ssl endpoints')
  .option('--ovn-key <file>', 'private key for ssl endpoints')
  .option('--namespace <name>', 'where the Lease is', 'kube-system')
  .option('--leader-elect-lease-duration <seconds>', 'others wait this long after the last renewal of the Lease', seconds, 15)
  .option('--leader-elect-renew-deadline <seconds>', 'stop writing this long after the last renewal of the Lease', seconds, 10)
  .option('--leader-elect-retry-period <seconds>', 'between tries to gain and to renew the Lease', seconds, 2)
  .option('--directory <path>', "the laboratory's folder: kubeconfig and log", DEFAULT_DIRECTORY)
  .option('--nodes <count>', 'nodes of the laboratory', wholeNumber(1, 500), 2)
  .option('--port <port>', "the laboratory's API server listens here", wholeNumber(1, 65_535))
  .option('--no-demo', 'start an empty laboratory')
  .option('--read-only', 'observe and plan, write nothing')
  .addOption(
    new Option('--log-level <level>', 'least level that is logged')
      .choices(['debug', 'info', 'warn', 'error'] satisfies LogLevel[])
      .default('info'),
  )
  .action(async (flags: StartFlags) => {
    process.exitCode = await start(flags);
  });

addNetworkFlags(startCommand);
