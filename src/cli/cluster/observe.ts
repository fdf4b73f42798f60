/** Shared by commands that read the whole cluster: the flags of the Northbound database, and a World that is filled once. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { ObservationOptions } from '../../controller/reading/observation.ts';
import { Observation } from '../../controller/reading/observation.ts';
import type { OvsdbOptions, OvsdbSession } from '../../ovsdb/index.ts';
import { SILENT } from '../../runtime/log.ts';
import type { Settings } from '../../world/settings.ts';
import { commandText } from '../../text/command-text.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { requestTimeoutMs } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { OvnFlags } from '../connection/connect.ts';
import { endpointsOf, northboundSession } from '../connection/connect.ts';
import type { NorthboundWay } from '../connection/northbound-ways.ts';
import type { SettingsFlags } from './leader.ts';
import { settingsFor } from './leader.ts';
import { correspondence } from './belongs-together.ts';
import { certificateProblem } from '../connection/ovn-certificates.ts';

export interface ObservationFlags extends ConnectionFlags, Partial<OvnFlags>, SettingsFlags {}

export function addNorthboundFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--ovn-nb <endpoints>', 'Northbound database: unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT, several separated by commas').env(
        'KILN_OVN_NB',
      ),
    )
    .addOption(new Option('--ovn-ca <file>', 'CA certificate for ssl endpoints').env('KILN_OVN_CA'))
    .addOption(new Option('--ovn-cert <file>', 'client certificate for ssl endpoints').env('KILN_OVN_CERT'))
    .addOption(new Option('--ovn-key <file>', 'private key for ssl endpoints').env('KILN_OVN_KEY'));
}

/**
 * Lists everything once. Without a way, or if the database cannot be read, the World has no rows, and a warning reports the latter.
 * @param way to the database, which is only read
 * @param more `settings`: not those of the leader
 */
export async function observe(
  flags: ObservationFlags,
  io: CommandIo,
  way: NorthboundWay | undefined,
  { settings, ...more }: Pick<ObservationOptions, 'follows' | 'leavesRows'> & { readonly settings?: Settings } = {},
): Promise<Observation> {
  const endpoints = endpointsOf(way?.ovnNb ?? '');
  const observation = await Observation.open({
    client: io.client,
    session: way === undefined ? undefined : sessionOf(flags, way.ovnNb, { ...way.options, readOnly: true }),
    endpoints: endpoints.length,
    settings: settings ?? (await settingsFor(flags, io)),
    timeoutMs: requestTimeoutMs(flags),
    ...more,
  });
  if (way === undefined) return observation;
  if (!observation.northboundRead)
    io.say(`warning: the Northbound database at ${way.text} cannot be read: ${observation.northboundProblem ?? ''}`);
  else if (way.isFound && more.leavesRows !== true && correspondence(observation.world).kind === 'other')
    io.say(`warning: the Northbound database at ${way.text} seems to be another cluster's; --ovn-nb or KILN_OVN_NB names the right one`);
  return observation;
}

/**
 * The same over a session that is used for more than this, by a command that needs the rows.
 *
 * @throws CommandFailure if the database cannot be read
 */
export async function observeRows(session: OvsdbSession, ovnNb: string, flags: ObservationFlags, io: CommandIo): Promise<Observation> {
  const observation = await Observation.open({
    client: io.client,
    session,
    endpoints: session.endpointCount,
    settings: await settingsFor(flags, io),
    timeoutMs: requestTimeoutMs(flags),
  });
  if (observation.northboundRead) return observation;
  await observation[Symbol.asyncDispose]();
  throw new CommandFailure(
    EXIT.unreachable,
    'the Northbound database cannot be read',
    observation.northboundProblem ?? '',
    commandText`ovn-nbctl --db=${ovnNb} show`,
  );
}

/** @param more options of the session */
export function sessionOf(flags: Partial<OvnFlags>, ovnNb: string, more: Partial<OvsdbOptions> = {}): ReturnType<typeof northboundSession> {
  const problem = certificateProblem({ ...flags, ovnNb });
  if (problem !== undefined) throw new CommandFailure(EXIT.usage, `--ovn-nb "${ovnNb}" cannot be used`, problem, 'kiln status --help');
  try {
    return northboundSession({ ...flags, ovnNb }, SILENT, more);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.usage, `--ovn-nb "${ovnNb}" cannot be used`, why, 'kiln status --help');
  }
}
