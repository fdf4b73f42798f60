/** The process of `kiln agent`. */
import { resolve } from 'node:path';
import { Gauge, Registry } from 'prom-client';
import { NodeAgent } from '../../agent/agent.ts';
import { answerBfd } from '../../agent/bfd/responder.ts';
import { type CniFilesOptions, installCniFiles } from '../../agent/install/cni-files.ts';
import { prepareVswitchDatabase, type VswitchDatabaseOptions } from '../../agent/install/vswitch-database.ts';
import { makeParametersWritable } from '../../agent/install/writable-parameters.ts';
import { hostPrograms } from '../../agent/kernel/programs.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { type Connection, connectionFromCluster, connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { type BindAddress, type OperationsServer, parseBindAddress, serveOperations } from '../../runtime/operations-server.ts';
import { ownProgram } from '../../runtime/own-program.ts';
import { jsonLog } from '../../runtime/json-log.ts';
import { systemClock } from '../../timing/clock.ts';
import type { AgentFlags } from '../settings/agent-flags.ts';
import { CommandFailure, EXIT, failureText } from '../errors/command-failure.ts';
import { print, printErrorText } from '../output/terminal.ts';

/**
 * Runs until `stopped` resolves.
 *
 * @returns the exit code
 */
export async function runAgent(flags: AgentFlags, stopped: Promise<unknown>): Promise<number> {
  const { node, vswitch, socket, southbound, tunnel, datapath, defaultVpc, gatewayNamespace, mtu } = flags;
  const { serviceClusterIpRange: serviceCidr } = flags;
  const { externalGatewayConfigNs: namespace, externalGatewayNet: network, externalGatewayVlanid: vlan } = flags;
  if (flags.inCluster !== true && flags.kubeconfig === undefined)
    return failed(EXIT.usage, 'kiln agent needs a cluster', 'neither --kubeconfig nor --in-cluster is given', 'kiln agent --help');
  if (southbound === undefined)
    return failed(EXIT.usage, 'kiln agent needs the Southbound database', '--southbound is not given', 'kiln agent --help');
  const probes = flags.probeBindAddress === 'off' ? 'off' : parseBindAddress(flags.probeBindAddress);
  if (probes === undefined)
    return failed(
      EXIT.usage,
      'kiln agent cannot serve probes',
      `--probe-bind-address ${flags.probeBindAddress} is not HOST:PORT`,
      'kiln agent --help',
    );
  const log = jsonLog(flags.logLevel);
  let server: OperationsServer | undefined;
  let client: KubeClient | undefined;
  let agent: NodeAgent | undefined;
  try {
    if (flags.inCluster === true) await makeParametersWritable(hostPrograms);
    client = new KubeClient(new KubeTransport(await connection(flags), { userAgent: 'kiln-agent' }));
    agent = new NodeAgent({
      settings: {
        ...{ node, southbound, tunnel, datapath, defaultVpc, gatewayNamespace, externalGateway: { namespace, network, vlan }, mtu },
        serviceCidr,
        nonPrimaryCni: flags.nonPrimaryCniMode === true,
      },
      client,
      vswitch,
      socket: resolve(socket),
      programs: hostPrograms,
      program: ownProgram(),
      clock: systemClock,
      log,
    });
    await agent.start();
    if (probes !== 'off') server = await serveProbes(probes, agent);
    log.info('the node agent runs', { node, vswitch, socket });
    await stopped;
    return EXIT.fine;
  } catch (error) {
    return failed(
      EXIT.unreachable,
      'the node agent cannot run',
      error instanceof Error ? error.message : String(error),
      'kiln agent --help',
    );
  } finally {
    await server?.close();
    await agent?.stop();
    await client?.close();
  }
}

/**
 * Answers BFD until `stopped` resolves.
 *
 * @returns the exit code
 */
export async function runResponder(networks: readonly string[], stopped: Promise<unknown>): Promise<number> {
  try {
    await answerBfd({ networks, stopped, report: (report) => print([JSON.stringify(report)]) });
    return EXIT.fine;
  } catch (error) {
    return failed(EXIT.unreachable, 'BFD cannot be answered', error instanceof Error ? error.message : String(error), 'kiln agent status');
  }
}

async function serveProbes(address: BindAddress, agent: NodeAgent): Promise<OperationsServer> {
  const registry = new Registry();
  const waiting = new Gauge({
    name: 'kiln_agent_waiting',
    help: 'number of things that the agent cannot observe or change now',
    registers: [],
    collect() {
      this.set(agent.waitingFor.length);
    },
  });
  registry.registerMetric(waiting);
  const metrics = { contentType: registry.contentType, text: () => registry.metrics() };
  return await serveOperations({ address, metrics, waitingFor: () => agent.waitingFor });
}

/**
 * Writes the files of the CNI plugin, and prints their names.
 *
 * @returns the exit code
 */
export async function runInstall(options: CniFilesOptions): Promise<number> {
  try {
    print(await installCniFiles(options));
    return EXIT.fine;
  } catch (error) {
    return failed(
      EXIT.findings,
      'the CNI plugin cannot be installed',
      error instanceof Error ? error.message : String(error),
      'kiln install-cni --help',
    );
  }
}

/**
 * Makes the database of Open vSwitch.
 *
 * @returns the exit code
 */
export async function runPrepareVswitch(options: VswitchDatabaseOptions): Promise<number> {
  try {
    print([await prepareVswitchDatabase(options, hostPrograms)]);
    return EXIT.fine;
  } catch (error) {
    return failed(
      EXIT.findings,
      'the database of Open vSwitch cannot be made',
      error instanceof Error ? error.message : String(error),
      'kiln prepare-vswitch --help',
    );
  }
}

async function connection({ inCluster, kubeconfig = '', context }: AgentFlags): Promise<Connection> {
  if (inCluster === true) return await connectionFromCluster();
  return await connectionFromKubeconfig({ path: resolve(kubeconfig), ...(context === undefined ? {} : { context }) });
}

function failed(exit: number, message: string, why: string, next: string): number {
  printErrorText(failureText(new CommandFailure(exit as never, message, why, next)));
  return exit;
}
