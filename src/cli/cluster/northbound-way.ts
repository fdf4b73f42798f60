/** The way of a command to the Northbound database: as `--ovn-nb` says, else the first that is found. */
import { commandText } from '../../text/command-text.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { requestTimeoutMs } from '../connection/cluster-command.ts';
import type { OvnFlags } from '../connection/connect.ts';
import { northboundOf } from '../connection/connect.ts';
import type { NorthboundWay, WayUse } from '../connection/northbound-ways.ts';
import { northboundWay, NoWay } from '../connection/northbound-ways.ts';
import { readOvnCertificates } from '../connection/ovn-certificates.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { LeaseFlags } from './leader.ts';

type WayFlags = Partial<OvnFlags> & Partial<LeaseFlags> & Pick<ConnectionFlags, 'requestTimeout'>;
type WayIo = Pick<CommandIo, 'client' | 'connection' | 'say'>;

/** Of OVN's pods, for a command without `--lease-namespace`. */
const CENTRAL_NAMESPACE = 'kube-system';

/**
 * @param command as the user calls it: `audit`
 * @param use `writes`: only ways over which rows can be written and followed
 * @throws CommandFailure if none answers
 */
export async function wayToNorthbound(command: string, flags: WayFlags, io: WayIo, use: WayUse): Promise<NorthboundWay> {
  try {
    return await anyWay(flags, io, use);
  } catch (error) {
    if (!(error instanceof NoWay)) throw error;
    const namespace = flags.leaseNamespace ?? CENTRAL_NAMESPACE;
    throw new CommandFailure(
      EXIT.unreachable,
      `kiln ${command} found no way to the Northbound database${use === 'reads' ? '' : ' over which it can write'}`,
      error.message,
      use === 'reads'
        ? commandText`kiln ${command.split(' ')} --ovn-nb tcp:HOST:6641, or a right of your account: get and create of pods/portforward or pods/exec, get and list of pods, in namespace ${namespace}`
        : commandText`kiln ${command.split(' ')} --ovn-nb tcp:HOST:6641, or a right of your account: get and create of pods/portforward, get and list of pods, in namespace ${namespace}`,
    );
  }
}

/** For a command that is of use without the rows too: undefined if no way leads there, and a hint says why. */
export async function wayIfAny(flags: WayFlags, io: WayIo, use: WayUse): Promise<NorthboundWay | undefined> {
  try {
    return await anyWay(flags, io, use);
  } catch (error) {
    if (!(error instanceof NoWay)) throw error;
    io.say(
      `hint: Northbound rows are not shown, since no way to the database was found (${error.message}); --ovn-nb or KILN_OVN_NB names it`,
    );
    return undefined;
  }
}

async function anyWay(flags: WayFlags, io: WayIo, use: WayUse): Promise<NorthboundWay> {
  const ovnNb = northboundOf(flags);
  if (ovnNb !== undefined) return { text: ovnNb, ovnNb, options: {}, isFound: false };
  const { connection } = io;
  if (connection === undefined) throw new NoWay(['the connection to the API server is not known']);
  const { ovnCa, ovnCert, ovnKey, leaseNamespace: namespace = CENTRAL_NAMESPACE } = flags;
  const tls =
    ovnCa === undefined || ovnCert === undefined || ovnKey === undefined
      ? undefined
      : () => readOvnCertificates({ ovnCa, ovnCert, ovnKey });
  return await northboundWay({ client: io.client, connection, namespace, tls, use, timeoutMs: requestTimeoutMs(flags) });
}
