import { OvsdbError } from './errors.ts';
import type { OvsdbSession } from './session.ts';

/**
 * Starts a session for somebody who reads once, and does not wait for ever: members of a cluster that do not lead, or are away, are no failure
 * while there is another one to ask.
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

/** That a member does not lead says nothing of why no other one could be read. */
function mostTelling(failures: readonly OvsdbError[]): OvsdbError | undefined {
  return failures.findLast(({ code }) => code !== 'OVSDB_NOT_LEADER') ?? failures.at(-1);
}
