/**
 * The commands and their flags.
 */
import { Command, Option } from 'commander';
import { VERSION } from '../runtime/version.ts';
import { config, CONFIG_FORMATS } from './commands/config.ts';
import { configured, PRECEDENCE } from './configured.ts';
import { addClusterFlags, onCluster } from './cluster-command.ts';
import { addSettingsFlags } from './leader.ts';
import { release } from './commands/release.ts';
import type { ReleaseFlags } from './commands/release.ts';
import { addBundle } from './commands/bundle.ts';
import { addCompletion } from './commands/completion.ts';
import { addDelete } from './commands/delete.ts';
import { addDiff } from './commands/diff.ts';
import { addExplain } from './commands/explain.ts';
import { addStatus } from './commands/status.ts';
import { addUninstall } from './commands/uninstall.ts';
import { addVersion } from './commands/version.ts';
import { reserve } from './commands/reserve.ts';
import type { ReserveFlags } from './commands/reserve.ts';
import { print } from './output/terminal.ts';
import { addStartOptions } from './start-options.ts';
import { explainUsageErrors } from './usage-error.ts';

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
  .addHelpText('after', `\n${PRECEDENCE}\n`)
  .action(async (_: unknown, command: Command) => {
    // Of all commands only this one needs the laboratory, the controller and the webhook.
    const { start } = await import('./commands/start.ts');
    process.exitCode = await configured(command, (flags) => start(flags));
  });

addStartOptions(startCommand);

addStartOptions(
  program
    .command('config')
    .description('print every setting, its value and where that is from')
    .addHelpText('before', 'Examples:\n  kiln config --config kiln.yaml\n  kiln config -o yaml > kiln.yaml     a file to begin with\n')
    .addHelpText('after', `\n${PRECEDENCE}\n`)
    .addOption(new Option('-o, --output <format>', 'how it is printed').choices(CONFIG_FORMATS).default('table')),
).action(async (_: unknown, command: Command) => {
  process.exitCode = await configured(command, (flags, settings) => config(flags, settings, print), {
    runsAnyway: true,
  });
});

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

addSettingsFlags(
  addClusterFlags(
    program
      .command('release')
      .description('give a kept address back, when nothing uses it')
      .argument(
        '<ip>',
        'name of the IP object, as kiln reserve and kubectl get ips print it; or vip/<name>, ovn-eip/<name>, iptables-eip/<name>',
      )
      .addHelpText('before', 'Examples:\n  kiln release db-vip.shop\n  kiln release db-vip.shop --yes -o name\n  kiln release vip/db\n')
      .addHelpText('after', EXIT_CODES)
      .option('-y, --yes', 'do not ask'),
  ),
).action(async (ip: string, flags: ReleaseFlags) => {
  process.exitCode = await onCluster('release', flags, (io) => release(ip, flags, io));
});

addExplain(program);
addDelete(program);
addDiff(program);
addStatus(program);
addVersion(program);
addUninstall(program);
addBundle(program);
addCompletion(program);
explainUsageErrors(program);
