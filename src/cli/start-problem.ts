/** What is wrong with settings that are right one by one. */
import { accessSync, constants } from 'node:fs';
import type { StartFlags } from './commands/start.ts';
import type { Configured } from './configuration.ts';
import type { OvnFlags } from './connect.ts';
import { networkSettings } from './network-flags.ts';
import { webhookSettings } from './webhook-flags.ts';

/**
 * @param settings with their sources, as `configure` returns them
 * @returns one sentence; undefined where nothing is wrong
 */
export function startProblem(flags: StartFlags, settings: readonly Configured[] = []): string | undefined {
  const real = flags.kubeconfig !== undefined || flags.inCluster === true;
  if (real && flags.ovnNb === undefined)
    return '--kubeconfig needs --ovn-nb as well: the endpoints of the Northbound database, such as --ovn-nb tcp:10.0.0.1:6641';
  if (!real && flags.ovnNb !== undefined && !isForCommands(settings))
    return '--ovn-nb needs --kubeconfig (or --in-cluster) as well; without both, a laboratory is started';
  const { leaderElectLeaseDuration: duration, leaderElectRenewDeadline: deadline, leaderElectRetryPeriod: retry } = flags;
  if (retry >= deadline || deadline >= duration)
    return `--leader-elect-retry-period (${retry}) must be less than --leader-elect-renew-deadline (${deadline}), and that less than --leader-elect-lease-duration (${duration})`;
  if (real && flags.check === true)
    return '--check proves the demo in a laboratory; it does not go with --kubeconfig, --in-cluster and --ovn-nb';
  const network = networkSettings(flags);
  if (!network.ok) return network.problem;
  const webhook = webhookSettings(flags, flags.namespace);
  if (!webhook.ok) return webhook.problem;
  return certificateProblem(flags);
}

/** `npm start` tells people to export it for the commands that look at its laboratory: the next one is started where that was done. */
function isForCommands(settings: readonly Configured[]): boolean {
  return settings.some(({ key, source }) => key === 'ovnNb' && source === 'environment');
}

function certificateProblem({ ovnNb = '', ovnCa, ovnCert, ovnKey }: Partial<OvnFlags>): string | undefined {
  const files = { '--ovn-ca': ovnCa, '--ovn-cert': ovnCert, '--ovn-key': ovnKey };
  const missing = Object.entries(files).flatMap(([flag, file]) => (file === undefined ? [flag] : []));
  const endpoint = ovnNb.split(',').find((one) => one.trim().startsWith('ssl:'));
  if (endpoint !== undefined && missing.length > 0)
    return `--ovn-nb ${endpoint.trim()} is reached with TLS and needs ${missing.join(' and ')} as well`;
  if (missing.length > 0 && missing.length < 3)
    return `ssl endpoints need all of --ovn-ca, --ovn-cert and --ovn-key; ${missing.join(' and ')} is not there`;
  for (const [flag, file] of Object.entries(files)) {
    if (file === undefined) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      const what = file.includes('-----BEGIN')
        ? 'takes the name of a file, not what is in it'
        : `${file} cannot be read: ${(error as Error).message}`;
      return `${flag} ${what}`;
    }
  }
  return undefined;
}
