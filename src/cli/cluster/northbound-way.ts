/** The way of a command to the Northbound database: as `--ovn-nb` says, else the first that is found. */
import { commandText } from '../../text/command-text.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { requestTimeoutMs } from '../connection/cluster-command.ts';
import type { NorthboundWay, WayUse } from '../connection/northbound-ways.ts';
import { northboundWay, NoWay } from '../connection/northbound-ways.ts';
import { readOvnCertificates } from '../connection/ovn-certificates.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { ObservationFlags } from './observe.ts';
import { northboundOf } from './observe.ts';

/**
 * @param command as the user calls it: `audit`
 * @param use `writes`: only ways over which rows can be written and followed
 * @throws CommandFailure if none answers
 */
export async function wayToNorthbound(command: string, flags: ObservationFlags, io: CommandIo, use: WayUse): Promise<NorthboundWay> {
  const ovnNb = northboundOf(flags);
  if (ovnNb !== undefined) return { text: ovnNb, ovnNb, options: {} };
  const { connection } = io;
  if (connection === undefined) throw new Error('the connection to the API server is not known');
  const { ovnCa, ovnCert, ovnKey, leaseNamespace: namespace } = flags;
  const tls =
    ovnCa === undefined || ovnCert === undefined || ovnKey === undefined
      ? undefined
      : () => readOvnCertificates({ ovnCa, ovnCert, ovnKey });
  try {
    return await northboundWay({ client: io.client, connection, namespace, tls, use, timeoutMs: requestTimeoutMs(flags) });
  } catch (error) {
    if (!(error instanceof NoWay)) throw error;
    throw new CommandFailure(
      EXIT.unreachable,
      `kiln ${command} found no way to the Northbound database${use === 'reads' ? '' : ' over which it can write'}`,
      error.tried.join('; '),
      use === 'reads'
        ? commandText`kiln ${command.split(' ')} --ovn-nb tcp:HOST:6641, or a right of your account: get and create of pods/portforward or pods/exec, get and list of pods, in namespace ${namespace}`
        : commandText`kiln ${command.split(' ')} --ovn-nb tcp:HOST:6641, or a right of your account: get and create of pods/portforward, get and list of pods, in namespace ${namespace}`,
    );
  }
}
