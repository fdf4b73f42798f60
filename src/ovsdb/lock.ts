/** Whether a client of a server holds a lock (RFC 7047 section 4.1.8): `ovs-vswitchd` holds `ovs_vswitchd` of its database while it runs. */
import type { Scheduler } from '../timing/clock.ts';
import { parseEndpoint } from './endpoint.ts';
import { OvsdbError } from './errors.ts';
import { RpcConnection } from './rpc.ts';
import { dial } from './transport.ts';

const LARGEST_REPLY = 1 << 20;

/**
 * Asks on a connection of its own. A free lock is held for a moment, and the next client gets it then.
 * @returns undefined if the server does not answer
 */
export async function isLockHeld(endpoint: string, lock: string, clock: Scheduler, timeoutMs: number): Promise<boolean | undefined> {
  return await new Promise((resolve) => {
    dial(
      parseEndpoint(endpoint),
      undefined,
      timeoutMs,
      clock,
      (wire) => {
        const connection = new RpcConnection(wire, {
          clock,
          probeIntervalMs: timeoutMs,
          maxMessageBytes: LARGEST_REPLY,
          onNotification: () => {},
          onClosed: () => resolve(undefined),
        });
        const ask = async (): Promise<void> => {
          const reply = await connection.request('lock', [lock]);
          const granted = reply.kind === 'result' ? (reply.result as { readonly locked?: unknown } | null)?.locked : undefined;
          // Whoever asks next must not find this connection.
          await connection.request('unlock', [lock]);
          resolve(typeof granted === 'boolean' ? !granted : undefined);
          connection.close(new OvsdbError('OVSDB_DISCONNECTED', 'the question is answered'));
        };
        void ask();
      },
      () => resolve(undefined),
    );
  });
}
