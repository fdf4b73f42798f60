/** Checks combinations of settings; each setting alone is already valid. */
import type { StartFlags } from './start-flags.ts';
import type { Configured } from './configuration.ts';
import { endpointsOf } from '../connection/connect.ts';
import { readMetricsToken } from '../process/operations.ts';
import { networkSettings } from './network-flags.ts';
import { OvsdbError, parseEndpoint } from '../../ovsdb/index.ts';
import { certificateProblem } from '../connection/ovn-certificates.ts';
import { parseBindAddress } from '../../runtime/operations-server.ts';
import { webhookSettings } from './webhook-flags.ts';

/**
 * @param settings with their sources, as `configure` returns them
 * @returns a message for the user; undefined if the settings are valid
 */
export function startProblem(flags: StartFlags, settings: readonly Configured[] = []): string | undefined {
  const real = flags.kubeconfig !== undefined || flags.inCluster === true;
  if (flags.kubeconfig !== undefined && flags.inCluster === true)
    return `--kubeconfig ${flags.kubeconfig} and --in-cluster name two clusters; set only one of them`;
  if (real && flags.ovnNb === undefined)
    return `${flags.inCluster === true ? '--in-cluster' : '--kubeconfig'} needs --ovn-nb as well: the endpoints of the Northbound database, such as --ovn-nb tcp:10.0.0.1:6641`;
  if (!real && flags.ovnNb !== undefined && !isForCommands(settings))
    return '--ovn-nb needs --kubeconfig (or --in-cluster) as well; without both, a laboratory is started';
  const endpoints = endpointsProblem(flags.ovnNb);
  if (endpoints !== undefined) return endpoints;
  const { leaderElectLeaseDuration: duration, leaderElectRenewDeadline: deadline, leaderElectRetryPeriod: retry } = flags;
  if (retry >= deadline || deadline >= duration)
    return `--leader-elect-retry-period (${retry}) must be less than --leader-elect-renew-deadline (${deadline}), and that less than --leader-elect-lease-duration (${duration})`;
  if (real && flags.check === true)
    return '--check proves the demo in a laboratory; it cannot be combined with --kubeconfig, --in-cluster and --ovn-nb';
  if (real && flags.packets === true)
    return '--packets makes the nodes of a laboratory; it cannot be combined with --kubeconfig, --in-cluster and --ovn-nb';
  if (!real && flags.readOnly === true)
    return '--read-only needs --kubeconfig (or --in-cluster) and --ovn-nb: a laboratory in which nothing may be written never gets a network';
  if (flags.metricsTokenFile !== undefined) {
    try {
      readMetricsToken(flags.metricsTokenFile);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  const network = networkSettings(flags);
  if (!network.ok) return network.problem;
  const webhook = webhookSettings(flags, flags.namespace);
  if (!webhook.ok) return webhook.problem;
  if (webhook.port !== undefined && shareAPort(flags.webhookBindAddress, flags.metricsBindAddress))
    return `--webhook-bind-address ${flags.webhookBindAddress} and --metrics-bind-address ${flags.metricsBindAddress} are the same; each needs its own port`;
  return certificateProblem(flags);
}

/** Whether two bind addresses share a port: on one address, or one of them on all addresses. */
function shareAPort(a: string, b: string): boolean {
  const [one, other] = [parseBindAddress(a), parseBindAddress(b)];
  if (one === undefined || other === undefined || one.port !== other.port || one.port === 0) return false;
  return one.host === undefined || other.host === undefined || one.host === other.host;
}

function endpointsProblem(ovnNb: string | undefined): string | undefined {
  if (ovnNb === undefined) return undefined;
  const endpoints = endpointsOf(ovnNb);
  if (endpoints.length === 0) return `--ovn-nb "${ovnNb}" names no endpoint; it is one such as tcp:10.0.0.1:6641, or several with commas`;
  try {
    endpoints.forEach(parseEndpoint);
    return undefined;
  } catch (error) {
    if (!(error instanceof OvsdbError)) throw error;
    return `--ovn-nb ${ovnNb}: ${error.message}`;
  }
}

/**
 * Whether `KILN_OVN_NB` comes from the environment. `npm start` asks the user to export it for commands on its laboratory, and the user may
 * start the next laboratory in the same shell.
 */
function isForCommands(settings: readonly Configured[]): boolean {
  return settings.some(({ key, source }) => key === 'ovnNb' && source === 'environment');
}
