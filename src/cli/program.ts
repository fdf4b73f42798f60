/**
 * The commands and their flags.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from '../runtime/log.ts';
import { parseBindAddress } from '../runtime/operations-server.ts';
import { VERSION } from '../runtime/version.ts';
import { start } from './commands/start.ts';
import type { StartFlags } from './commands/start.ts';
import { addClusterFlags, onCluster } from './cluster-command.ts';
import { release } from './commands/release.ts';
import type { ReleaseFlags } from './commands/release.ts';
import { addExplain } from './commands/explain.ts';
import { reserve } from './commands/reserve.ts';
import type { ReserveFlags } from './commands/reserve.ts';
import { DEFAULT_BIND, DEFAULT_DIRECTORY } from './defaults.ts';
import { addNetworkFlags, yesOrNo } from './network-flags.ts';
import { addWebhookFlags } from './webhook-flags.ts';

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

function bindAddress(text: string): string {
  if (text !== 'off' && parseBindAddress(text) === undefined)
    throw new InvalidArgumentError(`"${text}" is neither HOST:PORT, such as 127.0.0.1:10670, nor :PORT, nor off.`);
  return text;
}

export const program = new Command('kiln')
  .description('A control plane for Kubernetes networking on OVN')
  .version(VERSION)
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
  .option('--keep', "keep the laboratory's objects in its folder, and begin with those that are there")
  .option('--nodes <count>', 'nodes of the laboratory', wholeNumber(1, 500), 2)
  .option('--port <port>', "the laboratory's API server listens here", wholeNumber(1, 65_535))
  .option('--no-demo', 'start an empty laboratory')
  .option('--read-only', 'observe and plan, write nothing')
  .option(
    '--metrics-bind-address <address>',
    'serve /metrics, /healthz and /readyz here: HOST:PORT, :PORT for every address, or off',
    bindAddress,
    DEFAULT_BIND,
  )
  .option('--metrics-subnet-label <true|false>', 'name Subnets in the metrics of addresses', yesOrNo, true)
  .addOption(
    new Option('--log-level <level>', 'least level that is logged')
      .choices(['debug', 'info', 'warn', 'error'] satisfies LogLevel[])
      .default('info'),
  )
  .action(async (flags: StartFlags) => {
    process.exitCode = await start(flags);
  });

addNetworkFlags(startCommand);
addWebhookFlags(startCommand);

const EXIT_CODES =
  '\nExit codes: 0 done, 1 refused (in use, taken, not there), 2 usage, 3 cannot reach the cluster or forbidden, 4 timed out, 130 interrupted.\n';

addClusterFlags(
  program
    .command('reserve')
    .description('keep an address of a Subnet under a name; a pod of that name gets it')
    .argument('<name>', 'name of the pod, or of what else uses the address')
    .addHelpText(
      'before',
      'Examples:\n  kiln reserve db-vip -n shop --subnet shop-net                  the next free address\n  kiln reserve db-vip -n shop --subnet shop-net --ip 10.0.0.9 --lease 24h\n',
    )
    .addHelpText('after', EXIT_CODES)
    .requiredOption('--subnet <name>', 'Subnet to take it from')
    .option('-n, --namespace <name>', "namespace of the pod; the context's when absent")
    .option('--ip <address>', 'this address, or one of each family with a comma; the next free one when absent')
    .option('--mac <mac>', 'this MAC; one is made when absent')
    .option('--lease <duration>', 'give it back when nothing has used it for so long, such as 24h'),
).action(async (name: string, flags: ReserveFlags) => {
  process.exitCode = await onCluster('reserve', flags, (io) => reserve(name, flags, io));
});

addClusterFlags(
  program
    .command('release')
    .description('give a reserved address back, when nothing uses it')
    .argument('<ip>', 'name of the IP object, as kiln reserve and kubectl get ips print it')
    .addHelpText('before', 'Examples:\n  kiln release db-vip.shop\n  kiln release db-vip.shop --yes -o name\n')
    .addHelpText('after', EXIT_CODES)
    .option('-y, --yes', 'do not ask'),
).action(async (ip: string, flags: ReleaseFlags) => {
  process.exitCode = await onCluster('release', flags, (io) => release(ip, flags, io));
});

addExplain(program);
