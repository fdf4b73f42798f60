/**
 * The settings of the controller and of the laboratory: each an option of `kiln start`, a variable of the environment and a key of the
 * configuration file (`configuration.ts`). `kiln config` has the same.
 */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from '../runtime/log.ts';
import { parseBindAddress } from '../runtime/operations-server.ts';
import { accepting, rememberTexts } from './configuration.ts';
import { DEFAULT_BIND, DEFAULT_DIRECTORY } from './defaults.ts';
import { namespaceName } from './name-arguments.ts';
import { addNetworkFlags, yesOrNo } from './network-flags.ts';
import { addWebhookFlags } from './webhook-flags.ts';

function wholeNumber(least: number, most: number): (text: string) => number {
  return accepting(`a whole number from ${least} to ${most}`, (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < least || value > most)
      throw new InvalidArgumentError(`"${text}" is not a whole number from ${least} to ${most}.`);
    return value;
  });
}

const seconds = accepting('0.1 to 3600 seconds', (text: string): number => {
  const value = Number(text.replace(/s$/, ''));
  if (!Number.isFinite(value) || value < 0.1 || value > 3_600)
    throw new InvalidArgumentError(`"${text}" is not a number of seconds from 0.1 to 3600.`);
  return value;
});

const bindAddress = accepting('HOST:PORT, :PORT or off', (text: string): string => {
  if (text !== 'off' && parseBindAddress(text) === undefined)
    throw new InvalidArgumentError(`"${text}" is neither HOST:PORT, such as 127.0.0.1:10670, nor :PORT, nor off.`);
  return text;
});

export function addStartOptions(command: Command): Command {
  command
    .option('--config <file>', 'YAML with settings, as kiln config -o yaml prints them; KILN_CONFIG likewise')
    .option('--kubeconfig <file>', 'run the controller on this cluster instead of a laboratory')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--in-cluster', 'run the controller on the cluster this pod is in')
    .option('--ovn-nb <endpoints>', 'Northbound database: unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT, several with commas')
    .option('--ovn-ca <file>', 'CA certificate for ssl endpoints')
    .option('--ovn-cert <file>', 'client certificate for ssl endpoints')
    .option('--ovn-key <file>', 'private key for ssl endpoints')
    .option('--namespace <name>', 'where the Lease is', namespaceName, 'kube-system')
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
    .option('--metrics-token-file <file>', 'token of clients that read /metrics from other machines; without it none may')
    .option('--metrics-subnet-label <true|false>', 'name Subnets in the metrics of addresses', yesOrNo, true)
    .addOption(
      new Option('--log-level <level>', 'least level that is logged')
        .choices(['debug', 'info', 'warn', 'error'] satisfies LogLevel[])
        .default('info'),
    );
  return rememberTexts(addWebhookFlags(addNetworkFlags(command)));
}
