/**
 * The commands and their flags.
 */
import { Command, Option } from 'commander';
import { VERSION } from '../runtime/version.ts';
import { config, CONFIG_FORMATS } from './commands/config.ts';
import { configured, PRECEDENCE } from './settings/configured.ts';
import { addClusterFlags, onCluster } from './connection/cluster-command.ts';
import { addSettingsFlags } from './cluster/leader.ts';
import { release } from './commands/release.ts';
import type { ReleaseFlags } from './commands/release.ts';
import { addAgent } from './commands/agent.ts';
import { addBundle } from './commands/bundle.ts';
import { addCompletion } from './commands/completion.ts';
import { addDelete } from './commands/delete.ts';
import { addDiff } from './commands/diff.ts';
import { addExplain } from './commands/explain.ts';
import { addLab } from './commands/lab.ts';
import { addStatus } from './commands/status.ts';
import { addUninstall } from './commands/uninstall.ts';
import { addVersion } from './commands/version.ts';
import { reserve } from './commands/reserve.ts';
import type { ReserveFlags } from './commands/reserve.ts';
import { namespaceName, objectName } from './arguments/name-arguments.ts';
import { print } from './output/terminal.ts';
import { addStartOptions } from './settings/start-options.ts';
import { explainUsageErrors } from './errors/usage-error.ts';

export const program = new Command('kiln')
  .description('A control plane for Kubernetes networking on OVN')
  .version(VERSION)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

const startCommand = program
  .command('start')
  .description('start a laboratory with a demo, or run the controller on a cluster')
  .addHelpText(
    'after',
    '\nExamples:\n  kiln start                       a laboratory: real OVN, embedded API server, demo\n  kiln start --check               prove the demo and end\n  kiln start --packets             nodes and pods that carry packets (root, Linux): kiln lab exec\n  kiln start --kubeconfig ~/.kube/config --ovn-nb tcp:10.0.0.1:6641,tcp:10.0.0.2:6641\n',
  )
  .option('--check', 'apply the demo, prove its connectivity and isolation, delete it, prove that nothing is left; exit 0 or 1')
  .addHelpText('after', `\n${PRECEDENCE}\n`)
  .action(async (_: unknown, command: Command) => {
    // Only this command needs the laboratory, the controller and the webhook, so they are loaded here.
    const { start } = await import('./commands/start.ts');
    process.exitCode = await configured(command, (flags) => start(flags));
  });

addStartOptions(startCommand);

addStartOptions(
  program
    .command('config')
    .description('print every setting, its value and its source')
    .addHelpText('after', '\nExamples:\n  kiln config --config kiln.yaml\n  kiln config -o yaml > kiln.yaml     a file to start from\n')
    .addHelpText('after', `\n${PRECEDENCE}\n`)
    .addOption(new Option('-o, --output <format>', 'output format').choices(CONFIG_FORMATS).default('table')),
).action(async (_: unknown, command: Command) => {
  process.exitCode = await configured(command, (flags, settings) => config(flags, settings, print), {
    runsAnyway: true,
  });
});

const EXIT_CODES =
  '\nExit codes: 0 done, 1 not possible (in use, taken, does not exist), 2 wrong usage, 3 cluster unreachable or forbidden, 4 timed out, 130 interrupted.\n';

addClusterFlags(
  program
    .command('reserve')
    .description('reserve an address of a Subnet for a pod of the given name')
    .argument('<name>', 'name of the pod, or of another user of the address', objectName)
    .addHelpText(
      'after',
      '\nExamples:\n  kiln reserve db-vip -n shop --subnet shop-net                  the next free address\n  kiln reserve db-vip -n shop --subnet shop-net --ip 10.0.0.9 --lease 24h\n',
    )
    .addHelpText('after', EXIT_CODES)
    .requiredOption('--subnet <name>', 'Subnet of the address', objectName)
    .option('-n, --namespace <name>', "namespace of the pod (default: the context's)", namespaceName)
    .option('--ip <address>', 'the address, or one of each family separated by a comma (default: the next free one)')
    .option('--mac <mac>', 'the MAC (default: derived from the name)')
    .option('--lease <duration>', 'release the address when it was unused for this long, such as 24h'),
).action(async (name: string, flags: ReserveFlags) => {
  process.exitCode = await onCluster('reserve', flags, (io) => reserve(name, flags, io));
});

addSettingsFlags(
  addClusterFlags(
    program
      .command('release')
      .description('release a reserved address that is not in use')
      .argument(
        '<ip>',
        'name of the IP object, as printed by kiln reserve and kubectl get ips; or vip/<name>, ovn-eip/<name>, iptables-eip/<name>',
      )
      .addHelpText('after', '\nExamples:\n  kiln release db-vip.shop\n  kiln release db-vip.shop --yes -o name\n  kiln release vip/db\n')
      .addHelpText('after', EXIT_CODES)
      .option('-y, --yes', 'do not ask for confirmation'),
  ),
).action(async (ip: string, flags: ReleaseFlags) => {
  process.exitCode = await onCluster('release', flags, (io) => release(ip, flags, io));
});

addAgent(program);
addExplain(program);
addDelete(program);
addDiff(program);
addStatus(program);
addVersion(program);
addUninstall(program);
addBundle(program);
addLab(program);
addCompletion(program);
explainUsageErrors(program);
