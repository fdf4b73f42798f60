/** `kiln agent cleanup`: takes this node back to what it was before the agent. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readNodeStatus } from '../../agent/status/read-node-status.ts';
import { GATEWAY_NAMESPACE } from '../../agent/rules/node-settings.ts';
import { hostPrograms } from '../../agent/kernel/programs.ts';
import { systemClock } from '../../timing/clock.ts';
import { CommandFailure, EXIT, failureText } from '../errors/command-failure.ts';
import { print, printErrorText } from '../output/terminal.ts';

const NOTES = `
Removes: the files of the CNI plugin, ports and devices of pods, ovn0, the keys of ovn-controller in Open_vSwitch (they get the values that they
had before), bridge br-int if the agent made it, or ovn-controller on a node that had no OVN before, ports of ovn-controller, devices that
stay as ovs-vswitchd does not run, the namespace of an external gateway, the table of nftables, rules in chains of other programs, rules of
routing. Pods of this node lose their network: drain it first. What another program made stays, and so do net.ipv4.ip_forward and
net.ipv6.conf.all.forwarding, which other programs may rely on by now. Stop ovn-controller before, or it makes br-int again: the command
says so, also with --dry-run. The API server is not needed.
`;

const EXAMPLES = `
Examples:
  kiln agent cleanup --dry-run         print what would be removed
  kiln agent cleanup
`;

const EXIT_CODES = `
Exit codes: 0 nothing is left, 1 something is left (its line says why; it can be run again) or the agent still runs, 2 wrong usage.
`;

interface CleanupFlags {
  readonly dryRun?: boolean;
  readonly vswitch: string;
  readonly ovnRun: string;
  readonly gatewayNamespace: string;
  readonly socket: string;
  readonly binaries: string;
  readonly configurations: string;
  readonly priority: string;
}

export function addAgentCleanup(agent: Command, socket: string): void {
  agent
    .command('cleanup')
    .description('take this node back to what it was before the agent, and say what was removed')
    .option('--dry-run', 'print what would be removed, and change nothing')
    .option('--vswitch <endpoint>', 'Open_vSwitch database of this node', 'unix:/run/openvswitch/db.sock')
    .option('--ovn-run <folder>', 'where ovn-controller has its control socket', '/run/ovn')
    .option('--socket <path>', 'socket of the agent', socket)
    .option('--gateway-namespace <name>', 'network namespace of this node as an external gateway', GATEWAY_NAMESPACE)
    .option('--binaries <folder>', 'where the container runtime looks for plugins', '/opt/cni/bin')
    .option('--configurations <folder>', 'where it looks for configurations', '/etc/cni/net.d')
    .option('--priority <number>', 'the first part of the name of the configuration', '01')
    .addHelpText('after', NOTES)
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .action(async (_: unknown, command: Command) => {
      process.exitCode = await agentCleanup(command.optsWithGlobals<CleanupFlags>());
    });
}

async function agentCleanup({ dryRun = false, vswitch, ovnRun, gatewayNamespace, ...places }: CleanupFlags): Promise<number> {
  const running = await readNodeStatus(places.socket).catch(() => undefined);
  if (running !== undefined && !dryRun) {
    const why = `the agent of node ${running.node} answers at ${places.socket}, and would make everything again`;
    printErrorText(
      failureText(
        new CommandFailure(EXIT.findings, 'the node agent still runs', why, 'kubectl get pods -n kube-system -l app=kiln-agent -o wide'),
      ),
    );
    return EXIT.findings;
  }
  const { cleanUp } = await import('../../agent/cleanup/cleanup.ts');
  let [removed, left] = [0, 0];
  await cleanUp({
    vswitch,
    ovnRun,
    gatewayNamespace,
    places: { ...places, socket: resolve(places.socket) },
    programs: hostPrograms,
    clock: systemClock,
    dryRun,
    done: ({ what }) => {
      removed += 1;
      print([`${dryRun ? 'would remove' : 'removed'} ${what}`]);
    },
    kept: ({ what, why }) => print([`stays: ${what}: ${why}`]),
    failed: (what, reason) => {
      left += 1;
      printErrorText(`left: ${what}: ${reason}\n`);
    },
  });
  if (removed + left === 0) print(['nothing of the agent is on this node']);
  return left === 0 ? EXIT.fine : EXIT.findings;
}
