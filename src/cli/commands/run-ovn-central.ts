/** The process of `kiln ovn-central`. */
import { resolve } from 'node:path';
import { Gauge, Registry } from 'prom-client';
import { RECORD_NAMES, SharedRecord } from '../../central/cluster-record.ts';
import { Member } from '../../central/member.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { connectionFromCluster, connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { jsonLog } from '../../runtime/json-log.ts';
import { type OperationsServer, parseBindAddress, serveOperations } from '../../runtime/operations-server.ts';
import { systemClock } from '../../timing/clock.ts';
import { CommandFailure, EXIT, type ExitCode, failureText } from '../errors/command-failure.ts';
import { printErrorText } from '../output/terminal.ts';
import type { OvnCentralFlags } from '../settings/ovn-central-flags.ts';

/**
 * Runs until `stopped` resolves.
 *
 * @returns the exit code
 */
export async function runOvnCentral(flags: OvnCentralFlags, stopped: Promise<unknown>): Promise<ExitCode> {
  const { node, address, nodes, kubeconfig, context } = flags;
  if (flags.inCluster !== true && kubeconfig === undefined)
    return failed(EXIT.usage, 'kiln ovn-central needs a cluster', 'neither --kubeconfig nor --in-cluster is given');
  const probes = parseBindAddress(flags.probeBindAddress);
  if (probes === undefined)
    return failed(EXIT.usage, 'kiln ovn-central cannot serve probes', `--probe-bind-address ${flags.probeBindAddress} is not HOST:PORT`);
  const log = jsonLog(flags.logLevel);
  let client: KubeClient | undefined;
  let server: OperationsServer | undefined;
  try {
    const connection =
      kubeconfig === undefined
        ? await connectionFromCluster()
        : await connectionFromKubeconfig({ path: resolve(kubeconfig), ...(context === undefined ? {} : { context }) });
    client = new KubeClient(new KubeTransport(connection, { userAgent: 'kiln-ovn-central' }));
    const places = {
      directory: resolve(flags.directory),
      runDirectory: resolve(flags.runDirectory),
      schemas: resolve(flags.schemas),
    };
    const shared = new SharedRecord(client, { ...RECORD_NAMES, nodes });
    const member = new Member({ node, address, places, shared, log, wallTime: () => systemClock.wallTime() });
    server = await serveOperations({ address: probes, metrics: metricsOf(member), waitingFor: () => member.waitingFor });
    log.info('a member of OVN runs', { node, address });
    const running = member.run();
    await stopped;
    member.stop();
    await running;
    return EXIT.fine;
  } catch (error) {
    return failed(EXIT.unreachable, 'the member of OVN cannot run', error instanceof Error ? error.message : String(error));
  } finally {
    await server?.close();
    await client?.close();
  }
}

function metricsOf(member: Member): { readonly contentType: string; readonly text: () => Promise<string> } {
  const registry = new Registry();
  const gauge = (name: string, help: string, value: (database: Member['databases'][number]) => number): Gauge =>
    new Gauge({
      name: `kiln_ovn_database_${name}`,
      help,
      labelNames: ['database'],
      registers: [registry],
      collect() {
        for (const database of member.databases) this.set({ database: database.name }, value(database));
      },
    });
  gauge('serves', 'whether this member takes part and knows a leader', ({ problem }) => (problem === undefined ? 1 : 0));
  gauge('leads', 'whether this member leads', ({ status }) => (status?.isLeader === true ? 1 : 0));
  gauge('servers', 'servers in the cluster, as this member knows it', ({ status }) => status?.servers.length ?? 0);
  gauge('term', 'number of elections', ({ status }) => status?.term ?? 0);
  void new Gauge({
    name: 'kiln_ovn_accepts_old_keys',
    help: 'whether keys of clients still let a server join: while members of an earlier release are replaced',
    registers: [registry],
    collect() {
      this.set(member.acceptsOldKeys ? 1 : 0);
    },
  });
  return { contentType: registry.contentType, text: () => registry.metrics() };
}

function failed(exit: ExitCode, message: string, why: string): ExitCode {
  printErrorText(failureText(new CommandFailure(exit, message, why, 'kiln ovn-central --help')));
  return exit;
}
