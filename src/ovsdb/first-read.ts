import { OvsdbError } from './errors.ts';
import type { OvsdbSession } from './session.ts';

/**
 * Starts a session and waits for its first sync, for a command that reads once: each endpoint is tried once. Members of a cluster that do
 * not lead, or do not answer, are no failure while another endpoint is left to try.
 *
 * @throws {OvsdbError} when each endpoint was tried once: why none could be read; OVSDB_CONNECT_TIMEOUT after this long
 */
export async function firstRead(session: OvsdbSession, timeoutMs: number): Promise<void> {
  const failures: OvsdbError[] = [];
  const end = new AbortController();
  const stop = session.onError((error) => {
    failures.push(error);
    if (failures.length >= session.endpointCount) end.abort(mostTelling(failures));
  });
  const timer = setTimeout(() => {
    const silent = new OvsdbError('OVSDB_CONNECT_TIMEOUT', `${session.endpoint} sent no contents in ${timeoutMs / 1_000} s`);
    end.abort(mostTelling(failures) ?? silent);
  }, timeoutMs);
  try {
    session.start();
    await session.untilSynced(end.signal);
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/** OVSDB_NOT_LEADER does not explain why no other member could be read. */
function mostTelling(failures: readonly OvsdbError[]): OvsdbError | undefined {
  return failures.findLast(({ code }) => code !== 'OVSDB_NOT_LEADER') ?? failures.at(-1);
}
