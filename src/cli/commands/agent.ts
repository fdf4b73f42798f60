/** `kiln agent`: the node agent, one on each node. */
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXTERNAL_GATEWAY, GATEWAY_NAMESPACE } from '../../agent/rules/node-settings.ts';
import { DEFAULT_VPC, SERVICE_CIDR } from '../../api/well-known.ts';
import type { LogLevel } from '../../runtime/log.ts';
import type { CniFilesOptions } from '../../agent/install/cni-files.ts';
import type { VswitchDatabaseOptions } from '../../agent/install/vswitch-database.ts';
import type { AgentFlags } from '../settings/agent-flags.ts';
import { cidr } from '../settings/network-flags.ts';
import { objectName } from '../arguments/name-arguments.ts';
import { addAgentCleanup } from './agent-cleanup.ts';
import { addAgentStatus } from './agent-status.ts';
import { interrupted } from '../process/interruption.ts';

const SOCKET = '/run/openvswitch/kube-ovn-daemon.sock';

const EXAMPLES = `
Examples:
  kiln agent --in-cluster --southbound tcp:10.0.0.1:6642
  kiln agent --kubeconfig ~/.kube/config --node worker-1 --southbound ssl:10.0.0.1:6642,ssl:10.0.0.2:6642
  kiln agent status                    what the agent of this node sees, and what differs
  kiln agent cleanup --dry-run         what a removal would take away
`;

const EXIT_CODES = `
Exit codes: 0 stopped by SIGTERM or Ctrl-C, 2 wrong usage, 3 the socket, the kubeconfig or the databases cannot be used.
Interfaces of pods stay as they are when the agent stops.
`;

/** Where `npm run build` puts the plugin, beside the program. */
const PLUGIN = join(dirname(process.argv[1] ?? ''), 'kiln-cni');

const INSTALL_EXAMPLES = `
Examples:
  kiln install-cni                                    as the init container of the agent's pod does
  kiln install-cni --plugin dist/kiln-cni --binaries /opt/cni/bin --configurations /etc/cni/net.d

Prints the files that were written; what is right already is left alone.
Exit codes: 0 done, 1 a file cannot be written, 2 wrong usage.
`;

const PREPARE_EXAMPLES = `
Examples:
  kiln prepare-vswitch                                as the init container of the Open vSwitch pod does

An older database gets the schema of the release that is installed here.
Exit codes: 0 done, 1 another Open vSwitch runs on this node or the file cannot be made, 2 wrong usage.
`;

export function addAgent(program: Command): void {
  program
    .command('install-cni')
    .description('put the CNI plugin and its configuration where the container runtime of this node looks for them')
    .addHelpText('after', INSTALL_EXAMPLES)
    .addOption(new Option('--plugin <file>', 'the plugin, which npm run build makes').default(PLUGIN, 'kiln-cni beside this program'))
    .option('--binaries <folder>', 'where the runtime looks for plugins', '/opt/cni/bin')
    .option('--configurations <folder>', 'where it looks for configurations', '/etc/cni/net.d')
    .option('--reference-plugins <folder>', 'where loopback and portmap are, for a runtime that has none', '/usr/lib/cni')
    .option('--socket <path>', 'socket of the agent', SOCKET)
    .option('--non-primary-cni-mode', 'another CNI plugin is the one of the runtime: no configuration, and one of ours from before goes')
    .option('--priority <number>', 'the runtime uses the configuration that is first by name', '01')
    .action(async (flags: CniFilesOptions) => {
      const { runInstall } = await import('./run-agent.ts');
      process.exitCode = await runInstall(flags);
    });
  program
    .command('prepare-vswitch')
    .description("make the database of this node's Open vSwitch, before its server starts")
    .addHelpText('after', PREPARE_EXAMPLES)
    .option('--database <file>', 'the database', '/var/lib/kiln/openvswitch/conf.db')
    .option('--schema <file>', "Open vSwitch's schema", '/usr/share/openvswitch/vswitch.ovsschema')
    .option('--socket <path>', 'where its server will listen', '/run/openvswitch/db.sock')
    .action(async (flags: VswitchDatabaseOptions) => {
      const { runPrepareVswitch } = await import('./run-agent.ts');
      process.exitCode = await runPrepareVswitch(flags);
    });
  const agent = program
    .command('agent')
    .description('run the node agent: interfaces of pods, the interface of the node, outgoing NAT')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .optionsGroup('Cluster:')
    .option('--kubeconfig <file>', 'cluster of this node')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--in-cluster', 'the cluster of this pod')
    .addOption(new Option('--node <name>', 'name of the Node object').argParser(objectName).default(hostname(), "this host's name"))
    .option(
      '--southbound <endpoints>',
      'Southbound database for ovn-controller: tcp:HOST:PORT or ssl:HOST:PORT, several separated by commas',
    )
    .option('--default-vpc <name>', 'Vpc whose pods the node reaches', objectName, DEFAULT_VPC)
    .option('--service-cluster-ip-range <networks>', 'network of Services', cidr, SERVICE_CIDR)
    .option(
      '--external-gateway-config-ns <name>',
      'namespace of ConfigMap ovn-external-gw-config, as for kiln start',
      objectName,
      EXTERNAL_GATEWAY.namespace,
    )
    .option(
      '--external-gateway-net <name>',
      'physical network of the external gateway, as for kiln start',
      objectName,
      EXTERNAL_GATEWAY.network,
    )
    .option('--external-gateway-vlanid <tag>', 'its VLAN tag; 0 for none', vlanTag, EXTERNAL_GATEWAY.vlan)
    .optionsGroup('Node:')
    .option('--vswitch <endpoint>', 'Open_vSwitch database of this node', 'unix:/run/openvswitch/db.sock')
    .option('--socket <path>', 'socket for the CNI plugin', SOCKET)
    .addOption(new Option('--tunnel <type>', 'encapsulation between nodes').choices(['geneve', 'vxlan', 'stt']).default('geneve'))
    .addOption(
      new Option('--datapath <type>', "system: the kernel's; netdev: in userspace").choices(['system', 'netdev']).default('system'),
    )
    .option(
      '--mtu <bytes>',
      "MTU of pods whose Subnet has none (default: that of the node's device, less 100 for geneve, 50 for vxlan, 72 for stt)",
      mtu,
    )
    .option('--non-primary-cni-mode', 'another CNI plugin provides the primary interface of pods, as for kiln start')
    .option('--gateway-namespace <name>', 'network namespace of this node as an external gateway', namespaceName, GATEWAY_NAMESPACE)
    .option('--probe-bind-address <address>', 'address of /healthz, /readyz and /metrics, or "off"', 'off')
    .addOption(
      new Option('--log-level <level>', 'lowest level that is logged')
        .choices(['debug', 'info', 'warn', 'error'] satisfies LogLevel[])
        .default('info'),
    )
    .action(async (flags: AgentFlags) => {
      // Only this command needs the agent.
      const { runAgent } = await import('./run-agent.ts');
      process.exitCode = await runAgent(flags, interrupted());
    });
  agent
    .command('answer-bfd', { hidden: true })
    .description('answer BFD in the network namespace of an external gateway; the agent runs it')
    .requiredOption('--network <cidr...>', 'routers of these networks get answers')
    .action(async ({ network }: { readonly network: readonly string[] }) => {
      const { runResponder } = await import('./run-agent.ts');
      process.exitCode = await runResponder(network, interrupted());
    });
  addAgentStatus(agent, SOCKET);
  addAgentCleanup(agent, SOCKET);
}

function namespaceName(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(text)) throw new InvalidArgumentError(`"${text}" is no name of a network namespace.`);
  return text;
}

const HIGHEST_TAG = 4_095;

function vlanTag(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > HIGHEST_TAG)
    throw new InvalidArgumentError(`"${text}" is not a whole number from 0 to ${HIGHEST_TAG}.`);
  return value;
}

/** IPv6 needs 1280 bytes. */
const LEAST_MTU = 1_280;

function mtu(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < LEAST_MTU || value > 65_535)
    throw new InvalidArgumentError(`"${text}" is not a whole number from ${LEAST_MTU} to 65535.`);
  return value;
}
