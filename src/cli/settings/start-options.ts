/**
 * The settings of the controller and of the laboratory: each is an option of `kiln start`, an environment variable and a key of the
 * configuration file (`configuration.ts`). `kiln config` has the same.
 */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { DEFAULT_JOURNAL_BYTES } from '../../journal/file-journal.ts';
import type { LogLevel } from '../../runtime/log.ts';
import { parseBindAddress } from '../../runtime/operations-server.ts';
import { accepting, rememberTexts } from './configuration.ts';
import { DEFAULT_BIND } from '../process/operations.ts';
import { DEFAULT_DIRECTORY } from './defaults.ts';
import { JOURNAL_DEFAULT_TEXT } from '../arguments/journal-directory.ts';
import { namespaceName } from '../arguments/name-arguments.ts';
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

const MEBIBYTE = 1_024 * 1_024;

const outputDirectory = accepting('a directory, or off', (text: string): string => {
  if (text.trim() === '' || text.includes('\0')) throw new InvalidArgumentError(`"${text}" is neither a directory nor off.`);
  return text;
});

const interval = accepting('a duration of at least 1m', (text: string): number => {
  const value = parseDuration(text);
  if (value === undefined || value < 60_000)
    throw new InvalidArgumentError(`"${text}" is not a duration of at least 1m, such as 24h, 90m or 7d.`);
  return value;
});

const bindAddress = accepting('HOST:PORT, :PORT or off', (text: string): string => {
  if (text !== 'off' && parseBindAddress(text) === undefined)
    throw new InvalidArgumentError(`"${text}" is neither HOST:PORT, such as 127.0.0.1:10670, nor :PORT, nor off.`);
  return text;
});

export function addStartOptions(command: Command): Command {
  command
    .option('--config <file>', 'YAML file with settings, as printed by kiln config -o yaml; or KILN_CONFIG')
    .optionsGroup('Cluster:')
    .option('--kubeconfig <file>', 'run the controller on this cluster rather than a laboratory')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--in-cluster', 'run the controller on the cluster of this pod')
    .option('--ovn-nb <endpoints>', 'Northbound database: unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT, several separated by commas')
    .option('--ovn-ca <file>', 'CA certificate for ssl endpoints')
    .option('--ovn-cert <file>', 'client certificate for ssl endpoints')
    .option('--ovn-key <file>', 'private key for ssl endpoints')
    .option('--namespace <name>', 'namespace of the Lease', namespaceName, 'kube-system')
    .option('--leader-elect-lease-duration <seconds>', 'how long other replicas wait after the last renewal of the Lease', seconds, 15)
    .option('--leader-elect-renew-deadline <seconds>', 'how long after the last renewal of the Lease the leader stops writing', seconds, 10)
    .option('--leader-elect-retry-period <seconds>', 'time between attempts to acquire or renew the Lease', seconds, 2)
    .optionsGroup('Laboratory:')
    .option('--directory <path>', 'folder of the laboratory: kubeconfig and log', DEFAULT_DIRECTORY)
    .option('--keep', "keep the laboratory's objects in its folder, and start from the objects already there")
    .option('--nodes <count>', 'number of nodes of the laboratory', wholeNumber(1, 500), 2)
    .option('--packets', 'nodes and pods carry packets, each in a network namespace: for root on Linux')
    .option('--port <port>', "port of the laboratory's API server", wholeNumber(1, 65_535))
    .option('--no-demo', 'start an empty laboratory')
    .optionsGroup('Controller:')
    .option('--read-only', 'observe and plan, write nothing')
    .option(
      '--journal <directory>',
      `write what is deleted or overwritten in OVN here first, for kiln undo; or off (default: ${JOURNAL_DEFAULT_TEXT}; that of a laboratory is in its folder)`,
      outputDirectory,
    )
    .option(
      '--journal-size <mebibytes>',
      'size limit of the journal; beyond it the oldest entries go',
      wholeNumber(1, 1_048_576),
      DEFAULT_JOURNAL_BYTES / MEBIBYTE,
    )
    .option(
      '--backup <directory>',
      'write backups of the whole Northbound database here, while this process leads; or off',
      outputDirectory,
      'off',
    )
    .addOption(new Option('--backup-every <duration>', 'time between two backups').argParser(interval).default(interval('24h'), '24h'))
    .option('--backup-keep <count>', 'number of backups that stay; older ones go', wholeNumber(1, 100_000), 14)
    .option(
      '--metrics-bind-address <address>',
      'serve /metrics, /healthz and /readyz here: HOST:PORT, :PORT for every address, or off',
      bindAddress,
      DEFAULT_BIND,
    )
    .option('--metrics-token-file <file>', 'file with the token for /metrics from other hosts (default: this host alone)')
    .option('--metrics-subnet-label <true|false>', 'label the address metrics with the Subnet', yesOrNo, true)
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'] satisfies LogLevel[])
        .default('info'),
    );
  addNetworkFlags(command.optionsGroup('Network settings:'));
  return rememberTexts(addWebhookFlags(command.optionsGroup('Admission webhook:')));
}
