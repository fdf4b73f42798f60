/** `kiln ovn-central`: a member of OVN's central part, one on each node of the control plane. */
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LogLevel } from '../../runtime/log.ts';
import type { OvnCentralFlags } from '../settings/ovn-central-flags.ts';
import { objectName } from '../arguments/name-arguments.ts';
import { interrupted } from '../process/interruption.ts';

const EXAMPLES = `
Examples:
  kiln ovn-central --in-cluster --node cp-1 --address 10.0.0.1      as deploy/ovn-central.yaml has it
  kubectl -n kube-system get configmap kiln-ovn -o yaml             the founder, the servers, and where clients connect

Needs the ConfigMap and the Secrets of deploy/ovn-central.yaml, and the programs of OVN in PATH.
Exit codes: 0 stopped by SIGTERM or Ctrl-C, 2 wrong usage, 3 the kubeconfig or the port for probes cannot be used.
`;

export function addOvnCentral(program: Command): void {
  program
    .command('ovn-central')
    .description('run the databases of OVN and ovn-northd as a member of their cluster')
    .addHelpText('after', EXAMPLES)
    .optionsGroup('Cluster:')
    .option('--kubeconfig <file>', 'cluster of this node')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--in-cluster', 'the cluster of this pod')
    .addOption(new Option('--node <name>', 'name of the Node object').argParser(objectName).default(hostname(), "this host's name"))
    .requiredOption('--address <address>', "the Node's InternalIP, by which members and clients reach this one", address)
    .option('--nodes <selector>', 'labels of the Nodes that have members', 'node-role.kubernetes.io/control-plane')
    .optionsGroup('Node:')
    .option('--directory <folder>', 'databases and keys; on a disk', '/var/lib/kiln/ovn')
    .option('--run-directory <folder>', 'sockets', '/run/ovn')
    .option('--schemas <folder>', "OVN's schemas", '/usr/share/ovn')
    .option('--probe-bind-address <address>', '/healthz, /readyz and /metrics', '127.0.0.1:10672')
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'] satisfies LogLevel[])
        .default('info'),
    )
    .action(async (flags: OvnCentralFlags) => {
      // Only this command needs the member.
      const { runOvnCentral } = await import('./run-ovn-central.ts');
      process.exitCode = await runOvnCentral(flags, interrupted());
    });
}

function address(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError(`"${text}" is not an address.`);
  return text;
}
