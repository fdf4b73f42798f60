/**
 * The leading controller, from its Lease: identity, version, and the network settings that commands share with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { publishedIn } from '../../controller/leadership/publication.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { Lease } from '../../kube/leader/lease.ts';
import { LEASES } from '../../kube/resource.ts';
import type { Settings } from '../../world/settings.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { namespaceName } from '../arguments/name-arguments.ts';
import type { NetworkFlags } from '../settings/network-flags.ts';
import { addNetworkOverrides, networkSettings } from '../settings/network-flags.ts';

export interface LeaseFlags {
  readonly leaseNamespace: string;
}

export interface SettingsFlags extends LeaseFlags, Partial<NetworkFlags> {}

export function addLeaseFlag(command: Command): Command {
  return command.option('--lease-namespace <name>', "namespace of the controller's Lease", namespaceName, 'kube-system');
}

/** For commands that compute the controller's desired state. The network settings come from the leader; each can be overridden. */
export function addSettingsFlags(command: Command): Command {
  return addNetworkOverrides(addLeaseFlag(command)).addHelpText(
    'after',
    '\nThe network settings are those of the leading controller. A flag of `kiln config --help` overrides one of them here too.\n',
  );
}

export interface Leader {
  /** Empty if the Lease has no holder. */
  readonly identity: string;
  /** RFC 3339. */
  readonly renewed: string;
  /** Whether the Lease is being renewed. */
  readonly live: boolean;
  /** Version of the present or last leader; undefined if it did not write it. */
  readonly version: string | undefined;
  readonly settings: Settings | undefined;
  /** Why the Northbound database rejects all transactions of the leader. */
  readonly northboundFailure: string | undefined;
  /** Why the leader cannot follow the Northbound database. */
  readonly northboundLoss: string | undefined;
  /** Why the leader cannot write its journal. */
  readonly journalFailure: string | undefined;
  /** Why the leader collects no rows for now. */
  readonly collectionPause: string | undefined;
}

type OfCluster = Pick<CommandIo, 'client'>;

/** A leader renews its Lease every two seconds. Without a renewal in this time there is no leader. */
const RENEWED_WITHIN_MS = 5_000;
const LOOK_MS = 250;

/** Undefined if there is no Lease: no controller has led yet. */
export async function leaderOf(io: OfCluster, namespace: string): Promise<Leader | undefined> {
  const found = await leaseIn(io, namespace);
  if (found === undefined) return undefined;
  const renewed = await renewedOf(io, namespace, found);
  const lease = renewed ?? found;
  const { holderIdentity, renewTime } = lease.spec ?? {};
  return { identity: holderIdentity ?? '', renewed: renewTime ?? '', live: renewed !== undefined, ...publishedIn(lease) };
}

async function leaseIn({ client }: OfCluster, namespace: string): Promise<Lease | undefined> {
  return await client.find<Lease>(LEASES, { name: CONTROLLER_LEASE, namespace });
}

/**
 * Compares with the local clock first. If by that clock the Lease has expired, or was renewed in the future, the clocks may differ; then
 * this waits and watches for a renewal.
 *
 * @returns the Lease as it is then, which another process may hold by now; undefined if no process renews it
 */
async function renewedOf(io: OfCluster, namespace: string, found: Lease): Promise<Lease | undefined> {
  const { spec } = found;
  if ((spec?.holderIdentity ?? '') === '') return undefined;
  const { renewTime, leaseDurationSeconds } = spec ?? {};
  if (Math.abs(Date.now() - Date.parse(renewTime ?? '')) < 1_000 * (leaseDurationSeconds ?? 15)) return found;
  for (const until = performance.now() + RENEWED_WITHIN_MS; performance.now() < until;) {
    await sleep(LOOK_MS);
    const next = await leaseIn(io, namespace);
    if (next?.spec?.renewTime !== renewTime) return (next?.spec?.holderIdentity ?? '') === '' ? undefined : next;
  }
  return undefined;
}

/** A message that no controller leads, and since when; undefined if one does, or if the user may not read the Lease. */
export async function leaderProblem(io: OfCluster, namespace: string): Promise<string | undefined> {
  try {
    const leader = await leaderOf(io, namespace);
    if (leader?.live === true) return undefined;
    if (leader === undefined || leader.identity === '') return 'no controller leads, so nothing changes';
    return `no controller leads, so nothing changes: ${leader.identity} was the last leader and last renewed its Lease at ${leader.renewed}`;
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
    throw error;
  }
}

/** The settings of the present or last leader; flags take precedence. If the leader wrote none, a hint names the assumed settings. */
export async function settingsFor(flags: SettingsFlags, io: Pick<CommandIo, 'client' | 'say'>): Promise<Settings> {
  const published = await publishedSettings(flags, io);
  const network = networkSettings(flags, published);
  if (network.ok) return network.settings;
  throw new CommandFailure(EXIT.usage, 'these settings contradict each other', network.problem, 'kiln config');
}

async function publishedSettings({ leaseNamespace }: LeaseFlags, io: Pick<CommandIo, 'client' | 'say'>): Promise<Settings> {
  const assumed = (why: string): Settings => {
    io.say(`hint: ${why}; without a flag, Kube-OVN's default is assumed`);
    return DEFAULT_SETTINGS;
  };
  const lease = `Lease ${leaseNamespace}/${CONTROLLER_LEASE}`;
  try {
    const published = await leaseIn(io, leaseNamespace);
    return (published && publishedIn(published).settings) ?? assumed(`no controller has published its settings in ${lease}`);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    return assumed(`${lease} may not be read, so the controller's settings are not known`);
  }
}
