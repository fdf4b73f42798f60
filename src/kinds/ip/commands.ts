/** `kiln reserve` and `kiln release`. */
import { namespaceName, objectName } from '../../cli/arguments/name-arguments.ts';
import { addSettingsFlags } from '../../cli/cluster/leader.ts';
import { addClusterFlags, onCluster } from '../../cli/connection/cluster-command.ts';
import type { KindCommands } from '../../cli/kind-commands.ts';
import type { ReleaseFlags } from './commands/release.ts';
import { release } from './commands/release.ts';
import type { ReserveFlags } from './commands/reserve.ts';
import { reserve } from './commands/reserve.ts';

const EXIT_CODES =
  '\nExit codes: 0 done, 1 not possible (in use, taken, does not exist), 2 wrong usage, 3 cluster unreachable or forbidden, 4 timed out, 130 interrupted.\n';

export const commands: KindCommands = (program) => {
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
};
